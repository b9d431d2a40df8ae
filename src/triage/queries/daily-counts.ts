import type { Context } from '../../context.js'
import { lastDays } from '../../model/time.js'
import { type RawBuilder, sql } from '../../store/kysely.js'
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

interface DailySums {
  id: number
  [day: `day_${number}`]: number | null
}

async function loadDailySums({ database }: Context, ids: readonly number[], starts: readonly number[]) {
  const { dialect, read } = database
  const query = dialect.usesRangesInSubqueries ? sumEachDay(ids, starts) : sumAllDays(ids, starts)
  return (await query.execute(read)).rows
}

/** Sums each day of each error in its own range of the primary key, which takes the least time. */
function sumEachDay(ids: readonly number[], starts: readonly number[]): RawBuilder<DailySums> {
  const sums = starts.map(
    (_, day) => sql`(
      select sum(${sql.ref('count')}) from faultboard_error_hours
      where error_id = faultboard_errors.id and ${isOnDay(starts, day)}
    ) as ${sql.ref(`day_${day}`)}`,
  )
  return sql`select id, ${sql.join(sums)} from faultboard_errors where id in (${paddedIdList(ids)})`
}

/** Sums all days of each error in one range of the primary key. */
function sumAllDays(ids: readonly number[], starts: readonly number[]): RawBuilder<DailySums> {
  const sums = starts.map(
    (_, day) => sql`sum(case when ${isOnDay(starts, day)} then ${sql.ref('count')} end) as ${sql.ref(`day_${day}`)}`,
  )
  return sql`select error_id as id, ${sql.join(sums)} from faultboard_error_hours
    where error_id in (${paddedIdList(ids)}) and hour >= ${starts[0]} group by error_id`
}

function isOnDay(starts: readonly number[], day: number): RawBuilder<boolean> {
  const end = starts[day + 1]
  return sql`hour >= ${starts[day]} ${end === undefined ? sql`` : sql`and hour < ${end}`}`
}
