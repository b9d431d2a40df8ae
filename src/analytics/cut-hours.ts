import type { Context } from '../context.js'
import { HOUR, hourOf } from '../model/time.js'
import { sql } from '../store/kysely.js'
import { errorsOf, hoursOf } from './application-filter.js'

/** What sums may be told apart by. */
export type Dimension = 'severity' | 'platform' | 'app_version'

/** Counts by the values of the dimensions, which `partKey` makes one text of. */
export type Parts = Map<string, number>

export const partKey = (values: readonly string[]): string => JSON.stringify(values)

/**
 * The sums know whole hours; a span may begin inside one, as every day does in a zone such as Asia/Kolkata. How much of
 * that hour lies after the cut is taken from its occurrence rows: exact while all of them are kept, and in proportion
 * where they are not. Gives nothing for a cut between two hours.
 */
export async function afterCuts(
  context: Context,
  application_id: number | undefined,
  cuts: readonly number[],
  by: readonly Dimension[],
): Promise<Map<number, Parts>> {
  const inside = cuts.filter((cut) => cut !== hourOf(cut))
  const sums = await sumsOfHours(context, application_id, inside.map(hourOf), by)
  const after = new Map<number, Parts>()
  for (const cut of inside) {
    const ofHour = sums.get(hourOf(cut))
    if (!ofHour) continue
    const kept = await keptRows(context, application_id, cut, by)
    const share = (part: string) => kept.get(part) ?? (hourOf(cut) + HOUR - cut) / HOUR
    after.set(cut, new Map([...ofHour].map(([part, count]) => [part, Math.round(count * share(part))])))
  }
  return after
}

async function sumsOfHours(
  context: Context,
  application_id: number | undefined,
  hours: readonly number[],
  by: readonly Dimension[],
): Promise<Map<number, Parts>> {
  const sums = new Map<number, Parts>()
  if (hours.length === 0) return sums
  const rows = await context.database.read
    .selectFrom('faultboard_application_hours')
    .select(({ fn }) => ['hour', fn.sum<number>('count').as('count')])
    .select([...by])
    .where('hour', 'in', [...new Set(hours)])
    .where(await hoursOf(context, application_id))
    .groupBy(['hour', ...by])
    .execute()
  for (const row of rows) {
    const parts = sums.get(row.hour) ?? new Map()
    sums.set(row.hour, parts.set(partKey(by.map((column) => row[column])), Number(row.count)))
  }
  return sums
}

/** Which share of the rows that are kept of an hour lies after the cut. */
async function keptRows(
  context: Context,
  application_id: number | undefined,
  cut: number,
  by: readonly Dimension[],
): Promise<Parts> {
  const rows = await context.database.read
    .selectFrom('faultboard_occurrences')
    .select(({ fn }) => [
      fn.countAll<number>().as('total'),
      sql<number>`sum(case when ${sql.ref('occurred_at')} >= ${cut} then 1 else 0 end)`.as('count'),
    ])
    .select(by.map((column) => valueOfRow(column).as(`of_${column}`)))
    .where('occurred_at', '>=', hourOf(cut))
    .where('occurred_at', '<', hourOf(cut) + HOUR)
    .$if(application_id !== undefined, (query) =>
      query.where(({ exists, selectFrom }) =>
        exists(
          selectFrom('faultboard_errors')
            .select('faultboard_errors.id')
            .whereRef('faultboard_errors.id', '=', 'faultboard_occurrences.error_id')
            .where(errorsOf(application_id)),
        ),
      ),
    )
    .$if(by.length > 0, (query) => query.groupBy(by.map((column) => sql.ref(`of_${column}`))))
    .execute()
  return new Map(
    rows
      .filter(({ total }) => Number(total) > 0)
      .map((row) => [partKey(by.map((column) => row[`of_${column}`])), Number(row.count) / Number(row.total)]),
  )
}

function valueOfRow(column: Dimension) {
  if (column !== 'severity') return sql<string>`coalesce(${sql.ref(column)}, '')`
  // An occurrence knows no severity of its own; its error has that of the newest one.
  return sql<string>`(select severity from faultboard_errors where faultboard_errors.id = faultboard_occurrences.error_id)`
}
