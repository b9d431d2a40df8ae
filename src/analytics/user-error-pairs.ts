import type { Context } from '../context.js'
import type { Scope } from '../model/input/scope.js'
import type { Database } from '../store/database.js'
import { isLimited, occurrencesInScope } from './sums/scope-conditions.js'

/** Selection of the newest user-error pairs, with a row limit. */
export interface UserErrorPairsInput {
  /** Filters the pairs before the row limit applies. */
  scope: Scope
  since: number
  limit: number
}

/** Maximum number of rows to search for one application or environment on SQLite, which blocks the host. */
const MAX_SCANNED_PAIRS = 30_000

/** Returns user-error pairs since a time, newest first. */
export function newestUserErrorPairs(context: Context, { scope, since, limit }: UserErrorPairsInput) {
  const { database } = context
  const newest = userErrorPairs(database, since)
  if (!isLimited(scope)) return newest.limit(limit)
  const { read, dialect } = database
  const scanned = dialect.blocksHost ? newest.limit(MAX_SCANNED_PAIRS) : newest
  return read
    .selectFrom(scanned.as('u'))
    .selectAll('u')
    .where(occurrencesInScope(context, 'u.error_id', scope))
    .orderBy('u.last_seen_at', 'desc')
    .limit(limit)
}

/** Checks whether there are more pairs than the limit. If so, counts of the newest pairs are lower bounds. */
export async function hasMorePairs(context: Context, { limit, ...input }: UserErrorPairsInput): Promise<boolean> {
  const next = await newestUserErrorPairs(context, { ...input, limit: 1 })
    .offset(limit)
    .executeTakeFirst()
  return next !== undefined || hasUnscannedPairs(context, input)
}

/** Checks whether the scan limit excludes older pairs of the scope. */
export async function hasUnscannedPairs(
  { database }: Context,
  { scope, since }: Omit<UserErrorPairsInput, 'limit'>,
): Promise<boolean> {
  if (!isLimited(scope) || !database.dialect.blocksHost) return false
  return (await userErrorPairs(database, since).limit(1).offset(MAX_SCANNED_PAIRS).executeTakeFirst()) !== undefined
}

function userErrorPairs({ read }: Database, since: number) {
  return read
    .selectFrom('faultboard_error_users as u')
    .select(['u.error_id', 'u.user_id', 'u.first_seen_at', 'u.last_seen_at'])
    .where('u.last_seen_at', '>=', since)
    .orderBy('u.last_seen_at', 'desc')
}
