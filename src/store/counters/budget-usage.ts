import { BUDGET_USAGE } from '../bulk/bulk-targets.js'
import type { Dialect } from '../dialect.js'
import type { Transaction } from '../kysely.js'
import type { Schema } from '../schema.js'

export interface BudgetKey {
  application_id: number
  /** Name of the option with the limit, followed by the dimension it applies to. */
  budget: string
  /** Start of the hour or UTC day. */
  period: number
}

export interface BudgetUsage {
  /** Amount used in this period by all processes, including this call. */
  amount: number
  closed: boolean
}

/** Adds to a budget. The row lock is held until the transaction ends, so that concurrent callers see each other's usage. */
export async function addUsage(
  trx: Transaction<Schema>,
  dialect: Dialect,
  { application_id, budget, period }: BudgetKey,
  amount: number,
): Promise<BudgetUsage> {
  await dialect.insertMany(trx, BUDGET_USAGE, [[application_id, budget, period, amount]])
  const row = await trx
    .selectFrom('faultboard_budget_usage')
    .select(['amount', 'closed_at'])
    .where('application_id', '=', application_id)
    .where('budget', '=', budget)
    .where('period', '=', period)
    .executeTakeFirstOrThrow()
  return { amount: Number(row.amount), closed: row.closed_at !== null }
}

/** Closes a period. Later calls of `addUsage` return `closed` and must use the next period. */
export async function closePeriod(
  trx: Transaction<Schema>,
  dialect: Dialect,
  key: BudgetKey,
  now: number,
): Promise<void> {
  await addUsage(trx, dialect, key, 0)
  await trx
    .updateTable('faultboard_budget_usage')
    .set({ closed_at: now })
    .where('application_id', '=', key.application_id)
    .where('budget', '=', key.budget)
    .where('period', '=', key.period)
    .execute()
}
