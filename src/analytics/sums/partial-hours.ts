import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import { HOUR, startOfHour } from '../../model/time.js'
import { sql } from '../../store/kysely.js'
import { hoursInScope, occurrencesInScope } from './scope-conditions.js'

/**
 * Counts occurrences after an instant within its hour. Sums cover whole hours, but midnight in zones such as
 * Asia/Kolkata lies inside an hour. Uses the stored occurrences: exact if all are stored, proportional otherwise.
 * Ignores instants on a full hour.
 */
export async function countAfterCuts(
  context: Context,
  scope: Scope,
  cuts: readonly number[],
): Promise<Map<number, number>> {
  const inside = cuts.filter((cut) => cut !== startOfHour(cut))
  const sums = await sumHours(context, scope, inside.map(startOfHour))
  const after = new Map<number, number>()
  for (const cut of inside) {
    const count = sums.get(startOfHour(cut))
    if (count) after.set(cut, Math.round(count * (await shareAfter(context, scope, cut))))
  }
  return after
}

async function sumHours(context: Context, scope: Scope, hours: readonly number[]): Promise<Map<number, number>> {
  if (hours.length === 0) return new Map()
  const rows = await context.database.read
    .selectFrom('faultboard_application_hours')
    .select(({ fn }) => ['hour', fn.sum<number>('count').as('count')])
    .where('hour', 'in', [...new Set(hours)])
    .where(await hoursInScope(context, scope))
    .groupBy('hour')
    .execute()
  return new Map(rows.map(({ hour, count }) => [hour, Number(count)]))
}

/** Share of stored occurrences after the cut, or the share of time if none are stored. */
async function shareAfter(context: Context, scope: Scope, cut: number): Promise<number> {
  const { total, count } = await context.database.read
    .selectFrom('faultboard_occurrences')
    .select(({ fn }) => [
      fn.countAll<number>().as('total'),
      sql<number | null>`sum(case when ${sql.ref('occurred_at')} >= ${cut} then 1 else 0 end)`.as('count'),
    ])
    .where('occurred_at', '>=', startOfHour(cut))
    .where('occurred_at', '<', startOfHour(cut) + HOUR)
    .where(occurrencesInScope(context, 'faultboard_occurrences.error_id', scope))
    .executeTakeFirstOrThrow()
  return Number(total) > 0 ? Number(count) / Number(total) : (startOfHour(cut) + HOUR - cut) / HOUR
}
