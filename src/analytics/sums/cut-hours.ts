import type { Context } from '../../context.js'
import { HOUR, hourOf } from '../../model/time.js'
import { sql } from '../../store/kysely.js'
import { hoursOf, occurrencesOf } from './application-filter.js'

/**
 * The sums know whole hours; an instant may lie inside one, as every midnight does in a zone such as Asia/Kolkata. How
 * much of that hour lies after the instant is taken from its occurrence rows: exact while all of them are kept, and in
 * proportion where they are not. Gives nothing for an instant between two hours.
 */
export async function afterCuts(
  context: Context,
  application_id: number | undefined,
  cuts: readonly number[],
): Promise<Map<number, number>> {
  const inside = cuts.filter((cut) => cut !== hourOf(cut))
  const sums = await sumsOfHours(context, application_id, inside.map(hourOf))
  const after = new Map<number, number>()
  for (const cut of inside) {
    const count = sums.get(hourOf(cut))
    if (count) after.set(cut, Math.round(count * (await shareAfter(context, application_id, cut))))
  }
  return after
}

async function sumsOfHours(
  context: Context,
  application_id: number | undefined,
  hours: readonly number[],
): Promise<Map<number, number>> {
  if (hours.length === 0) return new Map()
  const rows = await context.database.read
    .selectFrom('faultboard_application_hours')
    .select(({ fn }) => ['hour', fn.sum<number>('count').as('count')])
    .where('hour', 'in', [...new Set(hours)])
    .where(await hoursOf(context, application_id))
    .groupBy('hour')
    .execute()
  return new Map(rows.map(({ hour, count }) => [hour, Number(count)]))
}

/** Which share of the rows that are kept of an hour lies after the cut; where none are kept, that of the time. */
async function shareAfter(context: Context, application_id: number | undefined, cut: number): Promise<number> {
  const { total, count } = await context.database.read
    .selectFrom('faultboard_occurrences')
    .select(({ fn }) => [
      fn.countAll<number>().as('total'),
      sql<number | null>`sum(case when ${sql.ref('occurred_at')} >= ${cut} then 1 else 0 end)`.as('count'),
    ])
    .where('occurred_at', '>=', hourOf(cut))
    .where('occurred_at', '<', hourOf(cut) + HOUR)
    .where(occurrencesOf(context, 'faultboard_occurrences.error_id', application_id))
    .executeTakeFirstOrThrow()
  return Number(total) > 0 ? Number(count) / Number(total) : (hourOf(cut) + HOUR - cut) / HOUR
}
