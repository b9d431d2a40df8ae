import type { Context } from '../context.js'
import type { Scope } from './hour-sums.js'
import type { Span } from './period.js'

export interface UserErrors {
  user_id: string
  /** Errors the user met in the period. */
  error_count: number
  /** All of the user's occurrences of these errors; those from before the period are among them. */
  occurrences: number
  last_seen_at: string
}

const USERS_AT_ONCE = 3000
const CANDIDATES = 25
const MOST_CANDIDATES = 1000

/**
 * The users who met most errors in the period. A user cannot have met more errors in the period than ever, so the users
 * are looked at in the order of how many they ever met, until nobody who is left can come among the first.
 */
export async function topUsers(context: Context, scope: Scope, span: Span, limit: number): Promise<UserErrors[]> {
  const candidates = await usersByErrors(context)
  let first: UserErrors[] = []
  for (let i = 0; i < candidates.length; i += CANDIDATES) {
    const best = candidates[i]?.error_count ?? 0
    if (first.length === limit && best < (first[limit - 1]?.error_count ?? 0)) break
    const some = candidates.slice(i, i + CANDIDATES).map(({ user_id }) => user_id)
    first = [...first, ...(await errorsOfUsers(context, scope, span, some))].sort(byErrors).slice(0, limit)
  }
  return first
}

interface Candidate {
  user_id: string
  error_count: number
}

/** The users with most errors ever, a bounded number of them. Read in parts, by the index on users alone. */
async function usersByErrors(context: Context): Promise<Candidate[]> {
  let candidates: Candidate[] = []
  for (let after: string | null = ''; after !== null; ) {
    const part = await partOfUsers(context, after, candidates[MOST_CANDIDATES - 1]?.error_count ?? 0)
    candidates = [...candidates, ...part.users].sort((a, b) => b.error_count - a.error_count).slice(0, MOST_CANDIDATES)
    after = part.last
  }
  return candidates
}

interface PartOfUsers {
  /** Those with more errors than the candidates that are known already. */
  users: Candidate[]
  last: string | null
}

async function partOfUsers({ database }: Context, after: string, least: number): Promise<PartOfUsers> {
  const part = database.read
    .selectFrom('faultboard_error_users')
    .select(({ fn }) => ['user_id', fn.countAll<number>().as('error_count')])
    .where('user_id', '>', after)
    .groupBy('user_id')
    .orderBy('user_id')
    .limit(USERS_AT_ONCE)
    .as('p')
  const users = await database.read
    .selectFrom(part)
    .select(['user_id', 'error_count'])
    .where('error_count', '>', least)
    .orderBy('error_count', 'desc')
    .limit(MOST_CANDIDATES)
    .execute()
  const { last } = await database.read
    .selectFrom(part)
    .select(({ fn }) => fn.max<string | null>('user_id').as('last'))
    .executeTakeFirstOrThrow()
  return { users, last }
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
        .where('e.application_id', '=', application_id ?? 0),
    )
    .groupBy('u.user_id')
    .execute()
  return rows.map((row) => ({ ...row, last_seen_at: new Date(row.last_seen_at).toISOString() }))
}

function byErrors(a: UserErrors, b: UserErrors): number {
  return b.error_count - a.error_count || b.occurrences - a.occurrences || (a.user_id < b.user_id ? -1 : 1)
}
