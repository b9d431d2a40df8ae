import type { Context } from '../../context.js'
import { withoutIndex } from '../../store/sort-order.js'
import { newestMeetings } from '../meetings.js'
import type { Scope } from '../sums/application-filter.js'
import type { Span } from '../sums/period.js'

export interface UserErrors {
  user_id: string
  /** Errors the user met in the period. */
  error_count: number
  /** All of the user's occurrences of these errors; those from before the period are among them. */
  occurrences: number
  last_seen_at: string
}

/** So many meetings of users and errors are looked at for who may be among the first. */
const MOST_MEETINGS = 10_000
const MOST_CANDIDATES = 150
const AT_ONCE = 10

/**
 * The users who met most errors in the period, each with all of them. Looked at are those who come first among the newest
 * meetings of the period, until nobody who is left can come among the first. Where there are more meetings than are
 * looked at, somebody who met many errors, but hardly any lately, may be missing.
 */
export async function topUsers(context: Context, scope: Scope, span: Span, limit: number): Promise<UserErrors[]> {
  const candidates = await usersLately(context, scope, span)
  let first: UserErrors[] = []
  for (let i = 0; i < candidates.length; i += AT_ONCE) {
    const best = candidates[i]?.error_count ?? 0
    if (first.length === limit && best < (first[limit - 1]?.error_count ?? 0)) break
    const some = candidates.slice(i, i + AT_ONCE).map(({ user_id }) => user_id)
    first = [...first, ...(await errorsOfUsers(context, scope, span, some))].sort(byErrors).slice(0, limit)
  }
  return first
}

async function usersLately(context: Context, { application_id }: Scope, { from }: Span) {
  return context.database.read
    .selectFrom(newestMeetings(context, { application_id, since: from, most: MOST_MEETINGS }).as('meetings'))
    .select(({ fn }) => ['user_id', fn.countAll<number>().as('error_count')])
    .groupBy('user_id')
    .orderBy('error_count', 'desc')
    .limit(MOST_CANDIDATES)
    .execute()
}

async function errorsOfUsers(
  { database }: Context,
  { application_id }: Scope,
  { from }: Span,
  users: readonly string[],
): Promise<UserErrors[]> {
  const rows = await database.read
    .selectFrom('faultboard_error_users as u')
    .select(({ fn }) => [
      'u.user_id',
      fn.countAll<number>().as('error_count'),
      fn.sum<number>('u.count').as('occurrences'),
      fn.max<number>('u.last_seen_at').as('last_seen_at'),
    ])
    .where('u.user_id', 'in', [...users])
    .where('u.last_seen_at', '>=', from)
    .$if(application_id !== undefined, (query) =>
      query
        .innerJoin('faultboard_errors as e', 'e.id', 'u.error_id')
        // The few users lead: by the application, all of its errors would be looked through for them.
        .where(withoutIndex(database.dialect, 'e.application_id'), '=', application_id ?? 0),
    )
    .groupBy('u.user_id')
    .execute()
  return rows.map((row) => ({ ...row, last_seen_at: new Date(row.last_seen_at).toISOString() }))
}

function byErrors(a: UserErrors, b: UserErrors): number {
  return b.error_count - a.error_count || b.occurrences - a.occurrences || (a.user_id < b.user_id ? -1 : 1)
}
