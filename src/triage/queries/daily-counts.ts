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
  for (const { error_id, day, count } of await loadDailySums(context, ids, starts)) {
    const errorCounts = counts.get(error_id)
    if (errorCounts) errorCounts[Number(day)] = Number(count)
  }
  return counts
}

async function loadDailySums({ database }: Context, ids: readonly number[], starts: readonly number[]) {
  const day = sql`case ${sql.join(
    starts.slice(1).map((start, i) => sql`when hour < ${sql.lit(start)} then ${sql.lit(i)}`),
    sql` `,
  )} else ${sql.lit(starts.length - 1)} end`
  const { rows } = await sql<{ error_id: number; day: number; count: number }>`
    select error_id, day, sum(${sql.ref('count')}) as ${sql.ref('count')} from (
      select error_id, ${starts.length === 1 ? sql.lit(0) : day} as day, ${sql.ref('count')}
      from faultboard_error_hours where error_id in (${paddedIdList(ids)}) and hour >= ${starts[0] ?? 0}
    ) as sums group by error_id, day`.execute(database.read)
  return rows
}
