import type { Context } from '../../context.js'
import { lastDays } from '../../model/time.js'
import { sql } from '../../store/kysely.js'
import { paddedIdList } from '../list/padded-id-list.js'

const DEFAULT_DAYS = 7

/**
 * Daily occurrence counts of these errors on the last local days, oldest first and today last.
 *
 * @example
 * (await dailyCounts(context, [7])).get(7) // [0, 0, 3, 1, 0, 12, 2]
 */
export async function dailyCounts(
  context: Context,
  ids: readonly number[],
  days = DEFAULT_DAYS,
): Promise<Map<number, number[]>> {
  await context.ready()
  const starts = lastDays(days, context.now(), context.config.time_zone)
  const counts = new Map(ids.map((id) => [id, starts.map(() => 0)]))
  if (ids.length === 0) return counts
  for (const { id, ...sums } of await loadDailySums(context, ids, starts)) {
    counts.set(
      id,
      starts.map((_, day) => Number(sums[`day_${day}`] ?? 0)),
    )
  }
  return counts
}

/** Sums each day of each error in its own range of the primary key, because grouping by day would sort all hours. */
async function loadDailySums({ database }: Context, ids: readonly number[], starts: readonly number[]) {
  const sums = starts.map((start, day) => {
    const end = starts[day + 1]
    return sql`(
      select sum(${sql.ref('count')}) from faultboard_error_hours
      where error_id = faultboard_errors.id and hour >= ${start} ${end === undefined ? sql`` : sql`and hour < ${end}`}
    ) as ${sql.ref(`day_${day}`)}`
  })
  const { rows } = await sql<{ id: number; [day: `day_${number}`]: number | null }>`
    select id, ${sql.join(sums)} from faultboard_errors where id in (${paddedIdList(ids)})`.execute(database.read)
  return rows
}
