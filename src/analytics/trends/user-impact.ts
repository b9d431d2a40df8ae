import type * as v from 'valibot'
import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { packedRows } from '../../store/bulk/packed-rows.js'
import { withoutIndex } from '../../store/sql/sort-order.js'
import { RankedError, withErrors } from '../ranked-errors.js'
import type { Span } from '../sums/period.js'
import { errorsInScope } from '../sums/scope-conditions.js'

export const ImpactedError = r.object({
  ...RankedError.entries,
  /** Users with this error in the period. */
  user_count: r.integer,
})
export type ImpactedError = v.InferOutput<typeof ImpactedError>

/** Number of errors to check first; triples each time, up to a limit that keeps queries short. */
const FIRST_PAGE_SIZE = 100
const MAX_PAGE_SIZE = 2700
/** Users per query. Counting them takes a few milliseconds. */
const MAX_USERS_PER_STATEMENT = 40_000

/**
 * Errors with the most affected users in the period. On ties, errors with more occurrences come first. The number of
 * occurrences is an upper bound for the number of users. Errors are checked in that order until no other error can reach
 * the top.
 */
export async function errorsWithMostUsers(
  context: Context,
  scope: Scope,
  span: Span,
  limit: number,
): Promise<ImpactedError[]> {
  let topErrors: CountedError[] = []
  const lowestTopCount = () => topErrors[limit - 1]?.user_count ?? 0
  let last: Candidate | null = null
  for (let size = FIRST_PAGE_SIZE; ; size = Math.min(size * 3, MAX_PAGE_SIZE)) {
    const page = await loadCandidates(context, scope, span, { after: last, moreUsersThan: lowestTopCount(), size })
    last = page.at(-1) ?? null
    const byUsers = [...page].sort((a, b) => b.user_count - a.user_count)
    const nextBatch = () => takeNextBatch(byUsers, Math.max(1, lowestTopCount()))
    for (let batch = nextBatch(); batch.length > 0; batch = nextBatch()) {
      topErrors = [...topErrors, ...(await countUsers(context, batch, span))].sort(compareImpact).slice(0, limit)
    }
    // Errors of later pages have at most as many occurrences, so they lose a tie.
    const isLastPage = page.length < size || (last?.occurrence_count ?? 0) <= lowestTopCount()
    if (isLastPage) break
  }
  return withErrors(
    context,
    topErrors.map(({ id, user_count }) => ({ id, user_count })),
  )
}

interface Candidate {
  id: number
  occurrence_count: number
  first_seen_at: number
  user_count: number
}

type CountedError = Pick<Candidate, 'id' | 'occurrence_count' | 'user_count'>

function compareImpact(a: CountedError, b: CountedError): number {
  return b.user_count - a.user_count || b.occurrence_count - a.occurrence_count || a.id - b.id
}

/** Removes and returns the errors to count next, up to the user limit. Stops at errors that cannot rank. */
function takeNextBatch(errors: Candidate[], minUsers: number): Candidate[] {
  let users = 0
  const end = errors.findIndex(({ user_count }, i) => {
    users += user_count
    return user_count < minUsers || (i > 0 && users > MAX_USERS_PER_STATEMENT)
  })
  return errors.splice(0, end === -1 ? errors.length : end)
}

async function loadCandidates(
  context: Context,
  scope: Scope,
  { from }: Span,
  { after, moreUsersThan, size }: { after: Candidate | null; moreUsersThan: number; size: number },
): Promise<Candidate[]> {
  const { database } = context
  const ids = database.read
    .selectFrom('faultboard_errors')
    .select(['id', 'occurrence_count'])
    .where(withoutIndex(database.dialect, 'occurred_at'), '>=', from)
    .where(errorsInScope(context, scope))
    .$if(after !== null, (query) =>
      query.where(({ eb, and, or }) =>
        or([
          eb('occurrence_count', '<', after?.occurrence_count ?? 0),
          and([eb('occurrence_count', '=', after?.occurrence_count ?? 0), eb('id', '>', after?.id ?? 0)]),
        ]),
      ),
    )
    // The covering index does not contain the users, so it is faster to read a few more pages from it.
    .$if(!database.dialect.hasCoveringIndexes, (query) => query.where('user_count', '>', moreUsersThan))
    .orderBy('occurrence_count', 'desc')
    .orderBy('id')
    .limit(size)
  const query = database.read
    // Only the sort column is indexed.
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

async function countUsers(
  { database }: Context,
  errors: readonly Candidate[],
  { from }: Span,
): Promise<CountedError[]> {
  // All users of an error first seen in the period count toward the period.
  const newErrors = errors.filter(({ first_seen_at }) => first_seen_at >= from)
  const olderErrors = errors.filter(({ first_seen_at }) => first_seen_at < from)
  if (olderErrors.length === 0) return newErrors
  const rows = await database.read
    .selectFrom('faultboard_error_users')
    .select(({ fn }) => ['error_id', fn.countAll<number>().as('user_count')])
    .where(
      'error_id',
      'in',
      olderErrors.map(({ id }) => id),
    )
    .where(withoutIndex(database.dialect, 'last_seen_at'), '>=', from)
    .groupBy('error_id')
    .execute()
  const counts = new Map(rows.map(({ error_id, user_count }) => [error_id, user_count]))
  const counted = olderErrors.map((error) => ({ ...error, user_count: counts.get(error.id) ?? 0 }))
  return [...newErrors, ...counted.filter(({ user_count }) => user_count > 0)]
}
