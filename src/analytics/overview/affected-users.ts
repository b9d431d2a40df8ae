import type * as v from 'valibot'
import type { Context } from '../../context.js'
import * as r from '../../model/result.js'
import { startOfLastDays } from '../../model/time.js'
import { sql } from '../../store/kysely.js'
import { hasMorePairs, hasUnscannedPairs, newestUserErrorPairs } from '../user-error-pairs.js'

export const AffectedUsers = r.object({
  /** Users with an error in the last seven days. */
  count: r.integer,
  /** Users in the previous seven days. Null if there are more than the counting limit. */
  before: r.nullable(r.integer),
  /** True when `count` is a lower bound. */
  is_lower_bound: r.optional(r.alwaysTrue),
  /** Users on each of the last local days. Empty if there are more than the counting limit. */
  daily: r.list(r.integer),
})
export type AffectedUsers = v.InferOutput<typeof AffectedUsers>

/** Maximum number of user-error pairs for exact counts. Beyond that, only the newest pairs are counted. */
const MAX_COUNTED_PAIRS = 10_000
const MAX_SAMPLED_PAIRS = 3000

/**
 * Counts users with recent errors. Only the first and last time of each user-error pair are stored, so days in between
 * count as affected.
 */
export async function affectedUsers(
  context: Context,
  { application_id, days }: { application_id: number | undefined; days: readonly number[] },
): Promise<AffectedUsers> {
  const { time_zone } = context.config
  const week = startOfLastDays(7, context.now(), time_zone)
  const since = startOfLastDays(14, context.now(), time_zone)
  const is_lower_bound = await hasMorePairs(context, { application_id, since, limit: MAX_COUNTED_PAIRS })
  const pairs = newestUserErrorPairs(context, {
    application_id,
    since,
    limit: is_lower_bound ? MAX_SAMPLED_PAIRS : MAX_COUNTED_PAIRS,
  })
  const spans = is_lower_bound
    ? [[week, null] as const]
    : [[week, null] as const, [since, week] as const, ...daySpans(days)]
  const users = context.database.read
    .selectFrom(pairs.as('pairs'))
    .select(spans.map((span, i) => affectedWithin(span).as(`affected_${i}`)))
    .groupBy('user_id')
  const sums = await context.database.read
    .selectFrom(users.as('users'))
    .select(({ fn }) => spans.map((_, i) => fn.sum<number | null>(`affected_${i}`).as(`affected_${i}`)))
    .executeTakeFirstOrThrow()
  const [count = 0, before = null, ...daily] = spans.map((_, i) => Number(sums[`affected_${i}`] ?? 0))
  return { count, before, ...(is_lower_bound ? { is_lower_bound } : {}), daily }
}

type Span = readonly [from: number, to: number | null]

function daySpans(days: readonly number[]): Span[] {
  return days.map((start, i) => [start, days[i + 1] ?? null])
}

function affectedWithin([from, to]: Span) {
  const startsBefore = to === null ? sql`1 = 1` : sql`first_seen_at < ${to}`
  return sql<number>`max(case when last_seen_at >= ${from} and ${startsBefore} then 1 else 0 end)`
}

export interface UsersByError {
  byError: Map<number, number>
  is_lower_bound: boolean
}

/** Counts affected users per error in the last seven days, most users first. */
export async function countUsersByError(context: Context, application_id: number | undefined): Promise<UsersByError> {
  const input = {
    application_id,
    since: startOfLastDays(7, context.now(), context.config.time_zone),
    limit: MAX_SAMPLED_PAIRS,
  }
  const rows = await context.database.read
    .selectFrom(newestUserErrorPairs(context, input).as('pairs'))
    .select(({ fn }) => ['error_id', fn.countAll<number>().as('count')])
    .groupBy('error_id')
    .orderBy('count', 'desc')
    .orderBy('error_id')
    .execute()
  const pairCount = rows.reduce((sum, { count }) => sum + count, 0)
  return {
    byError: new Map(rows.map(({ error_id, count }) => [error_id, count])),
    is_lower_bound: pairCount === MAX_SAMPLED_PAIRS || (await hasUnscannedPairs(context, input)),
  }
}
