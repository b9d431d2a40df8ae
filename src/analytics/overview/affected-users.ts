import type { Context } from '../../context.js'
import { startOfLastDays } from '../../model/time.js'
import { sql } from '../../store/kysely.js'
import { areMore, areOutOfSight, newestMeetings } from '../meetings.js'

export interface AffectedUsers {
  /** Users who met an error within seven days. */
  count: number
  /** The same of the seven days before; null where more met errors than are counted. */
  before: number | null
  /** More met errors than are counted: `count` is the least that they are. */
  is_lower_bound?: true
  /** On each of the last local days; empty where more met errors than are counted. */
  daily: number[]
}

/** So many meetings of a user with an error are told apart; of more, only so many of the newest. */
const MOST = 10_000
const OF_MANY = 3000

/**
 * Who met an error lately. Of a user and an error the first and the last time are known, so one who met it before and
 * after a week or a day is taken to have met it then too.
 */
export async function affectedUsers(
  context: Context,
  { application_id, days }: { application_id: number | undefined; days: readonly number[] },
): Promise<AffectedUsers> {
  const { time_zone } = context.config
  const week = startOfLastDays(7, context.now(), time_zone)
  const since = startOfLastDays(14, context.now(), time_zone)
  const is_lower_bound = await areMore(context, { application_id, since, most: MOST })
  const met = newestMeetings(context, { application_id, since, most: is_lower_bound ? OF_MANY : MOST })
  const spans = is_lower_bound
    ? [[week, null] as const]
    : [[week, null] as const, [since, week] as const, ...spansOf(days)]
  const users = context.database.read
    .selectFrom(met.as('meetings'))
    .select(spans.map((span, i) => metWithin(span).as(`met_${i}`)))
    .groupBy('user_id')
  const sums = await context.database.read
    .selectFrom(users.as('users'))
    .select(({ fn }) => spans.map((_, i) => fn.sum<number | null>(`met_${i}`).as(`met_${i}`)))
    .executeTakeFirstOrThrow()
  const [count = 0, before = null, ...daily] = spans.map((_, i) => Number(sums[`met_${i}`] ?? 0))
  return { count, before, ...(is_lower_bound ? { is_lower_bound } : {}), daily }
}

type Span = readonly [from: number, to: number | null]

function spansOf(days: readonly number[]): Span[] {
  return days.map((start, i) => [start, days[i + 1] ?? null])
}

function metWithin([from, to]: Span) {
  const begun = to === null ? sql`1 = 1` : sql`first_seen_at < ${to}`
  return sql<number>`max(case when last_seen_at >= ${from} and ${begun} then 1 else 0 end)`
}

export interface UsersOfErrors {
  by_error: Map<number, number>
  is_lower_bound: boolean
}

/** How many users met each error within seven days, those that most of them met first. */
export async function usersOfErrors(context: Context, application_id: number | undefined): Promise<UsersOfErrors> {
  const input = { application_id, since: startOfLastDays(7, context.now(), context.config.time_zone), most: OF_MANY }
  const rows = await context.database.read
    .selectFrom(newestMeetings(context, input).as('meetings'))
    .select(({ fn }) => ['error_id', fn.countAll<number>().as('count')])
    .groupBy('error_id')
    .orderBy('count', 'desc')
    .orderBy('error_id')
    .execute()
  const found = rows.reduce((sum, { count }) => sum + count, 0)
  return {
    by_error: new Map(rows.map(({ error_id, count }) => [error_id, count])),
    is_lower_bound: found === OF_MANY || (await areOutOfSight(context, input)),
  }
}
