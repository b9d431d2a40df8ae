import type * as v from 'valibot'
import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import type { Span } from '../sums/period.js'
import { errorsInScope, isLimited } from '../sums/scope-conditions.js'
import { newestUserErrorPairs } from '../user-error-pairs.js'

export const UserErrors = r.named(
  'UserErrors',
  r.object({
    user_id: r.text,
    /** Errors of the user in the period. */
    error_count: r.integer,
    /** All occurrences of these errors for the user, including those before the period. */
    occurrences: r.integer,
    last_seen_at: r.time,
  }),
)
export type UserErrors = v.InferOutput<typeof UserErrors>

/** Maximum number of user-error pairs to scan for candidates. */
const MAX_SCANNED_PAIRS = 10_000
const MAX_CANDIDATES = 150
const USERS_PER_QUERY = 10

/**
 * Users with the most errors in the period. Takes candidates from the newest user-error pairs and checks them until no
 * other candidate can reach the top. If there are more pairs than the limit, a user with many older errors may be
 * missing.
 */
export async function topUsers(context: Context, scope: Scope, span: Span, limit: number): Promise<UserErrors[]> {
  const candidates = await findRecentUsers(context, scope, span)
  let topUserErrors: UserErrors[] = []
  for (let i = 0; i < candidates.length; i += USERS_PER_QUERY) {
    const best = candidates[i]?.error_count ?? 0
    if (topUserErrors.length === limit && best < (topUserErrors[limit - 1]?.error_count ?? 0)) break
    const batch = candidates.slice(i, i + USERS_PER_QUERY).map(({ user_id }) => user_id)
    topUserErrors = [...topUserErrors, ...(await loadUserErrors(context, scope, span, batch))]
      .sort(byErrorCount)
      .slice(0, limit)
  }
  return topUserErrors
}

async function findRecentUsers(context: Context, scope: Scope, { from }: Span) {
  return context.database.read
    .selectFrom(newestUserErrorPairs(context, { scope, since: from, limit: MAX_SCANNED_PAIRS }).as('pairs'))
    .select(({ fn }) => ['user_id', fn.countAll<number>().as('error_count')])
    .groupBy('user_id')
    .orderBy('error_count', 'desc')
    .limit(MAX_CANDIDATES)
    .execute()
}

async function loadUserErrors(
  context: Context,
  scope: Scope,
  { from }: Span,
  users: readonly string[],
): Promise<UserErrors[]> {
  const rows = await context.database.read
    .selectFrom('faultboard_error_users as u')
    .select(({ fn }) => [
      'u.user_id',
      fn.countAll<number>().as('error_count'),
      fn.sum<number>('u.count').as('occurrences'),
      fn.max<number>('u.last_seen_at').as('last_seen_at'),
    ])
    .where('u.user_id', 'in', [...users])
    .where('u.last_seen_at', '>=', from)
    .$if(isLimited(scope), (query) =>
      query
        .innerJoin('faultboard_errors as e', 'e.id', 'u.error_id')
        // Joins from the few users. The application index would scan all errors of the application.
        .where(errorsInScope(context, scope, { table: 'e' })),
    )
    .groupBy('u.user_id')
    .execute()
  return rows.map((row) => ({ ...row, last_seen_at: new Date(row.last_seen_at).toISOString() }))
}

function byErrorCount(a: UserErrors, b: UserErrors): number {
  return b.error_count - a.error_count || b.occurrences - a.occurrences || (a.user_id < b.user_id ? -1 : 1)
}
