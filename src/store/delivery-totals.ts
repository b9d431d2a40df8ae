import type { Database } from './database.js'
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from './kysely.js'
import type { Schema } from './schema.js'

type Condition = (builder: ExpressionBuilder<Schema, 'faultboard_deliveries'>) => Expression<SqlBool>

/** Counts deliveries by state. `retrying` is stored as `pending` with at least one failed attempt. */
export async function deliveryTotals(
  { read }: Database,
  condition: Condition = ({ lit }) => lit(true),
): Promise<Map<string, number>> {
  const rows = await read
    .selectFrom('faultboard_deliveries')
    .select(({ fn }) => [
      'state',
      fn.countAll<number>().as('total'),
      sql<number>`sum(case when attempts > 0 then 1 else 0 end)`.as('attempted'),
    ])
    .where(condition)
    .groupBy('state')
    .execute()
  const totals = new Map(rows.map(({ state, total }) => [state, Number(total)]))
  const pending = rows.find(({ state }) => state === 'pending')
  const retrying = Number(pending?.attempted ?? 0)
  if (retrying > 0) totals.set('pending', Number(pending?.total) - retrying).set('retrying', retrying)
  return totals
}
