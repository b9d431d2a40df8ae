import { SEVERITIES } from '../../model/severity.js'
import { HOUR, hourOf } from '../../model/time.js'
import { addUsage, type BudgetKey, closePeriod } from '../../store/counters/budget-usage.js'
import type { Dialect } from '../../store/dialect.js'
import type { Transaction } from '../../store/kysely.js'
import type { Schema } from '../../store/schema.js'
import type { NoticeEvent } from '../content/notice.js'
import type { NewDelivery } from '../delivery/write-deliveries.js'

/** Digests, test messages and summaries are few; a resolution has to follow what it resolves. */
const LIMITED: readonly NoticeEvent[] = ['new', 'reopened', 'milestone', 'baseline']

export interface LimitedDeliveries {
  deliveries: NewDelivery[]
  /** How many of them wait for the summary. */
  over_limit: number
}

/**
 * Applies `notification_max_per_hour` to messages that are about to be written. The most severe ones are sent; the rest
 * waits for the summary at the end of the hour. The usage of a channel is locked until the transaction ends, so that all
 * processes together stay within the limit.
 */
export async function limitPerHour(
  trx: Transaction<Schema>,
  dialect: Dialect,
  deliveries: readonly NewDelivery[],
  { limit, now }: { limit: number; now: number },
): Promise<LimitedDeliveries> {
  const routes = new Map<string, NewDelivery[]>()
  for (const delivery of deliveries.filter(isLimited)) {
    const route = `${delivery.application_id ?? 0}:${delivery.channel}`
    routes.set(route, [...(routes.get(route) ?? []), delivery])
  }
  const moved = new Map<NewDelivery, NewDelivery>()
  // In one order for every process, so that two transactions wait for each other rather than deadlock.
  for (const [, messages] of [...routes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { before, period } = await reserve(trx, dialect, messages, now)
    const surplus = messages.sort(bySeverity).slice(Math.max(0, limit - before))
    for (const one of surplus) moved.set(one, { ...one, state: 'over_limit', run_at: period + HOUR })
  }
  return { deliveries: deliveries.map((one) => moved.get(one) ?? one), over_limit: moved.size }
}

function isLimited({ state, notice }: NewDelivery): boolean {
  return state === 'pending' && LIMITED.includes(notice.event)
}

function bySeverity(a: NewDelivery, b: NewDelivery): number {
  return SEVERITIES.indexOf(a.notice.severity) - SEVERITIES.indexOf(b.notice.severity)
}

/** The summary of an hour may have been written since this transaction read the clock: then the next hour counts. */
async function reserve(
  trx: Transaction<Schema>,
  dialect: Dialect,
  messages: readonly NewDelivery[],
  now: number,
): Promise<{ before: number; period: number }> {
  for (let period = hourOf(now); ; period += HOUR) {
    const key = usageKey({ ...messages[0], period })
    const { amount, closed } = await addUsage(trx, dialect, key, messages.length)
    if (!closed) return { before: amount - messages.length, period }
  }
}

/** Called before the summary of an hour is written: whatever is added to the hour later is refused. */
export async function closeHour(
  trx: Transaction<Schema>,
  dialect: Dialect,
  hour: { application_id: number | null; channel: string; period: number },
  now: number,
): Promise<void> {
  await closePeriod(trx, dialect, usageKey(hour), now)
}

function usageKey({
  application_id,
  channel,
  period,
}: {
  application_id?: number | null
  channel?: string
  period: number
}): BudgetKey {
  return { application_id: application_id ?? 0, budget: `notification_max_per_hour:${channel}`, period }
}
