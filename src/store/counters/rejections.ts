import { BUDGET_NAMES, type BudgetName, type CountRejections } from '../../model/budgets.js'
import type { Counters } from '../../model/counters.js'
import { DAY, HOUR, startOfHour } from '../../model/time.js'
import type { Database } from '../database.js'
import { defineHourTable } from './define-hour-table.js'
import type { Tallies } from './tallies.js'

/** Errors rejected by budgets. */
const REJECTION_HOURS = defineHourTable({
  table: 'faultboard_rejection_hours',
  names: { budget: 64 },
  amounts: { count: 'add', first_seen_at: 'least', last_seen_at: 'greatest' },
})

/** Counts rejections in this process and, by hour, in the sums that all processes share. */
export function createReject(counters: Counters, tallies: () => Tallies, now: () => number): CountRejections {
  return (budget, count = 1) => {
    const at = now()
    counters.add(budget, count)
    tallies()
      .forTable(REJECTION_HOURS, { title: 'rejections', overflowNames: {} })
      .add({ budget }, { count, first_seen_at: at, last_seen_at: at }, at)
  }
}

/** Rejections by one budget in the last 24 hours, in all processes. */
export interface Rejection {
  budget: BudgetName
  count: number
  first_seen_at: number
  last_seen_at: number
}

export async function recentRejections({ read }: Database, now: number): Promise<Rejection[]> {
  const rows = await read
    .selectFrom('faultboard_rejection_hours')
    .select(({ fn }) => [
      'budget',
      fn.sum<number>('count').as('count'),
      fn.min('first_seen_at').as('first_seen_at'),
      fn.max('last_seen_at').as('last_seen_at'),
    ])
    .where('hour', '>', startOfHour(now) - DAY)
    .groupBy('budget')
    .execute()
  return BUDGET_NAMES.flatMap((budget) => {
    const row = rows.find((candidate) => candidate.budget === budget)
    if (!row) return []
    const { count, first_seen_at, last_seen_at } = row
    return [{ budget, count: Number(count), first_seen_at: Number(first_seen_at), last_seen_at: Number(last_seen_at) }]
  })
}

const REJECTION_RETENTION_MS = 7 * DAY

/** Deletes budget usage and rejections that limits and pages no longer read. */
export async function deleteOldBudgetRows({ read }: Database, now: number): Promise<void> {
  await read
    .deleteFrom('faultboard_budget_usage')
    .where('period', '<', now - 2 * DAY - HOUR)
    .execute()
  await read
    .deleteFrom('faultboard_rejection_hours')
    .where('hour', '<', now - REJECTION_RETENTION_MS)
    .execute()
}
