import type { Context } from '../context.js'
import { withoutIndex } from '../store/sort-order.js'
import type { Scope } from './hour-sums.js'
import type { Span } from './period.js'
import { firstBy, type RankedError, withErrors } from './ranked-errors.js'

export interface ImpactedError extends RankedError {
  /** Users who met it in the period. */
  user_count: number
}

const CANDIDATES = 1000
/** So many users are counted in a few milliseconds; no error has more of them than occurrences. */
const USERS_AT_ONCE = 40_000

/**
 * The errors that met most users in the period. No error met more users than it occurred, so the errors are looked at in
 * the order of their occurrences, until none that is left can come among the first.
 */
export async function userImpact(context: Context, scope: Scope, span: Span, limit: number): Promise<ImpactedError[]> {
  let first: { id: number; user_count: number }[] = []
  for await (const errors of byOccurrences(context, scope, span)) {
    if (first.length === limit && (errors[0]?.occurrence_count ?? 0) < (first[limit - 1]?.user_count ?? 0)) break
    const rows = await usersOf(context, errors, span, limit)
    first = firstBy([...first, ...rows], ({ user_count }) => user_count, limit)
  }
  return withErrors(context, first)
}

interface Candidate {
  id: number
  occurrence_count: number
}

/** The errors of the period in parts, the most frequent first. */
async function* byOccurrences(context: Context, scope: Scope, span: Span): AsyncGenerator<Candidate[]> {
  for (let page = await candidates(context, scope, span, null); page.length > 0; ) {
    let part: Candidate[] = []
    let users = 0
    for (const error of page) {
      if (part.length > 0 && users + error.occurrence_count > USERS_AT_ONCE) {
        yield part
        part = []
        users = 0
      }
      part.push(error)
      users += error.occurrence_count
    }
    yield part
    page = page.length < CANDIDATES ? [] : await candidates(context, scope, span, part.at(-1) ?? null)
  }
}

async function candidates(
  { database }: Context,
  { application_id }: Scope,
  { from }: Span,
  after: Candidate | null,
): Promise<Candidate[]> {
  return database.read
    .selectFrom('faultboard_errors')
    .select(['id', 'occurrence_count'])
    .where(withoutIndex(database.dialect, 'occurred_at'), '>=', from)
    .$if(application_id !== undefined, (query) =>
      query.where(withoutIndex(database.dialect, 'application_id'), '=', application_id ?? 0),
    )
    .$if(after !== null, (query) =>
      query.where(({ eb, and, or }) =>
        or([
          eb('occurrence_count', '<', after?.occurrence_count ?? 0),
          and([eb('occurrence_count', '=', after?.occurrence_count ?? 0), eb('id', '>', after?.id ?? 0)]),
        ]),
      ),
    )
    .orderBy('occurrence_count', 'desc')
    .orderBy('id')
    .limit(CANDIDATES)
    .execute()
}

async function usersOf({ database }: Context, errors: readonly Candidate[], { from }: Span, limit: number) {
  const rows = await database.read
    .selectFrom('faultboard_error_users')
    .select(({ fn }) => ['error_id', fn.countAll<number>().as('user_count')])
    .where(
      'error_id',
      'in',
      errors.map(({ id }) => id),
    )
    .where(withoutIndex(database.dialect, 'last_seen_at'), '>=', from)
    .groupBy('error_id')
    .orderBy('user_count', 'desc')
    .orderBy('error_id')
    .limit(limit)
    .execute()
  return rows.map(({ error_id, user_count }) => ({ id: error_id, user_count }))
}
