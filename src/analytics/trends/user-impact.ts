import type { Context } from '../../context.js'
import { packedRows } from '../../store/packed-rows.js'
import { withoutIndex } from '../../store/sort-order.js'
import { firstBy, type RankedError, withErrors } from '../ranked-errors.js'
import type { Scope } from '../sums/application-filter.js'
import type { Span } from '../sums/period.js'

export interface ImpactedError extends RankedError {
  /** Users who met it in the period. */
  user_count: number
}

/** So many errors are looked at, the most frequent first, until none that is left can come among the first. */
const CANDIDATES = 100
/** So many users are counted in a few milliseconds. */
const MAX_USERS_PER_STATEMENT = 40_000

/**
 * The errors that met most users in the period. No error met more users than it occurred, nor more than ever, so errors
 * are looked at in the order of their occurrences, and counted where they can come among the first.
 */
export async function userImpact(context: Context, scope: Scope, span: Span, limit: number): Promise<ImpactedError[]> {
  let first: { id: number; user_count: number }[] = []
  const least = () => (first.length === limit ? (first[limit - 1]?.user_count ?? 0) : 1)
  let page = await candidates(context, scope, span, null)
  while ((page[0]?.occurrence_count ?? 0) >= least()) {
    const byUsers = [...page].sort((a, b) => b.user_count - a.user_count)
    for (let part = nextPart(byUsers, least()); part.length > 0; part = nextPart(byUsers, least())) {
      first = firstBy([...first, ...(await usersOf(context, part, span))], ({ user_count }) => user_count, limit)
    }
    const is_last = page.length < CANDIDATES || (page.at(-1)?.occurrence_count ?? 0) < least()
    page = is_last ? [] : await candidates(context, scope, span, page.at(-1) ?? null)
  }
  return withErrors(context, first)
}

interface Candidate {
  id: number
  occurrence_count: number
  first_seen_at: number
  user_count: number
}

/** Takes those away that are to be counted next: together not too many users, and none that met too few. */
function nextPart(errors: Candidate[], least: number): Candidate[] {
  let users = 0
  const end = errors.findIndex(({ user_count }, i) => {
    users += user_count
    return user_count < least || (i > 0 && users > MAX_USERS_PER_STATEMENT)
  })
  return errors.splice(0, end === -1 ? errors.length : end)
}

async function candidates(
  { database }: Context,
  { application_id }: Scope,
  { from }: Span,
  after: Candidate | null,
): Promise<Candidate[]> {
  const ids = database.read
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
  const query = database.read
    // What is sorted by is in an index, the rest is not.
    .selectFrom(ids.as('candidates'))
    .innerJoin('faultboard_errors as e', 'e.id', 'candidates.id')
    .select(({ fn, lit }) => [
      'e.id',
      'e.occurrence_count',
      'e.first_seen_at',
      fn.coalesce('e.user_count', lit(0)).as('user_count'),
    ])
  const rows = await packedRows(database, query, ['id', 'occurrence_count', 'first_seen_at', 'user_count'])
  return rows.sort((a, b) => b.occurrence_count - a.occurrence_count || a.id - b.id)
}

async function usersOf({ database }: Context, errors: readonly Candidate[], { from }: Span) {
  // All who ever met an error that was first seen in the period met it in the period.
  const young = errors.filter(({ first_seen_at }) => first_seen_at >= from)
  const old = errors.filter(({ first_seen_at }) => first_seen_at < from)
  const counted = young.map(({ id, user_count }) => ({ id, user_count }))
  if (old.length === 0) return counted
  const rows = await database.read
    .selectFrom('faultboard_error_users')
    .select(({ fn }) => ['error_id', fn.countAll<number>().as('user_count')])
    .where(
      'error_id',
      'in',
      old.map(({ id }) => id),
    )
    .where(withoutIndex(database.dialect, 'last_seen_at'), '>=', from)
    .groupBy('error_id')
    .execute()
  return [...counted, ...rows.map(({ error_id, user_count }) => ({ id: error_id, user_count }))]
}
