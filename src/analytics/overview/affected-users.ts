import type * as v from 'valibot'
import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { sql } from '../../store/kysely.js'
import type { Span } from '../sums/period.js'
import { hasMorePairs, hasUnscannedPairs, newestUserErrorPairs } from '../user-error-pairs.js'

export const AffectedUsers = r.object({
  /** Users with an error in the period. */
  count: r.integer,
  /** Users in the previous period. Null if it is not stored in full, or has more users than the counting limit. */
  before: r.nullable(r.integer),
  /** True when `count` is a lower bound. */
  is_lower_bound: r.optional(r.alwaysTrue),
})
export type AffectedUsers = v.InferOutput<typeof AffectedUsers>

/** Maximum number of user-error pairs for exact counts. Beyond that, only the newest pairs are counted. */
const MAX_COUNTED_PAIRS = 10_000
const MAX_SAMPLED_PAIRS = 3000

/**
 * Counts users with errors in a period and in the previous period. Only the first and last time of each user-error
 * pair are stored. The user counts as affected at all times in between.
 */
export async function affectedUsers(
  context: Context,
  scope: Scope,
  { period, before }: { period: Span; before: Span | null },
): Promise<AffectedUsers> {
  const hasMoreThanLimit = (since: number) => hasMorePairs(context, { scope, since, limit: MAX_COUNTED_PAIRS })
  const is_lower_bound = await hasMoreThanLimit(period.from)
  const previous = is_lower_bound || !before || (await hasMoreThanLimit(before.from)) ? null : before
  const pairs = newestUserErrorPairs(context, {
    scope,
    since: previous?.from ?? period.from,
    limit: is_lower_bound ? MAX_SAMPLED_PAIRS : MAX_COUNTED_PAIRS,
  })
  const users = context.database.read
    .selectFrom(pairs.as('pairs'))
    .select([affectedWithin(period).as('in_period'), affectedWithin(previous ?? period).as('in_previous')])
    .groupBy('user_id')
  const sums = await context.database.read
    .selectFrom(users.as('users'))
    .select(({ fn }) => [
      fn.sum<number | null>('in_period').as('count'),
      fn.sum<number | null>('in_previous').as('before'),
    ])
    .executeTakeFirstOrThrow()
  return {
    count: Number(sums.count ?? 0),
    before: previous && Number(sums.before ?? 0),
    ...(is_lower_bound ? { is_lower_bound } : {}),
  }
}

function affectedWithin({ from, to }: Span) {
  return sql<number>`max(case when last_seen_at >= ${from} and first_seen_at < ${to} then 1 else 0 end)`
}

export interface UsersByError {
  byError: Map<number, number>
  is_lower_bound: boolean
}

/** Counts affected users per error in a period, most users first. */
export async function countUsersByError(context: Context, scope: Scope, { from, to }: Span): Promise<UsersByError> {
  const input = { scope, since: from, limit: MAX_SAMPLED_PAIRS }
  const rows = await context.database.read
    .selectFrom(newestUserErrorPairs(context, input).as('pairs'))
    .select(({ fn }) => ['error_id', fn.countAll<number>().as('pair_count')])
    .select(sql<number>`sum(case when first_seen_at < ${to} then 1 else 0 end)`.as('count'))
    .groupBy('error_id')
    .orderBy('count', 'desc')
    .orderBy('error_id')
    .execute()
  const pairCount = rows.reduce((sum, { pair_count }) => sum + Number(pair_count), 0)
  return {
    byError: new Map(rows.map(({ error_id, count }) => [error_id, Number(count)])),
    is_lower_bound: pairCount === MAX_SAMPLED_PAIRS || (await hasUnscannedPairs(context, input)),
  }
}
