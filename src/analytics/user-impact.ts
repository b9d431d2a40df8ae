import type { Context } from '../context.js'
import type { Scope } from './hour-sums.js'
import { idRanges } from './id-ranges.js'
import type { Span } from './period.js'
import { firstBy, type RankedError, withErrors } from './ranked-errors.js'

export interface ImpactedError extends RankedError {
  /** Users who met it in the period. */
  user_count: number
}

/** The errors that met most users in the period. */
export async function userImpact(
  context: Context,
  { application_id }: Scope,
  { from }: Span,
  limit: number,
): Promise<ImpactedError[]> {
  let first: { id: number; user_count: number }[] = []
  for await (const range of idRanges(context)) {
    const rows = await context.database.read
      .selectFrom('faultboard_errors as e')
      .innerJoin('faultboard_error_users as u', 'u.error_id', 'e.id')
      .select(({ fn }) => ['e.id', fn.countAll<number>().as('user_count')])
      .where('e.id', '>=', range.first)
      .where('e.id', '<', range.end)
      .where('e.occurred_at', '>=', from)
      .where('u.last_seen_at', '>=', from)
      .$if(application_id !== undefined, (query) => query.where('e.application_id', '=', application_id ?? 0))
      .groupBy('e.id')
      .orderBy('user_count', 'desc')
      .orderBy('e.id')
      .limit(limit)
      .execute()
    first = firstBy([...first, ...rows], ({ user_count }) => user_count, limit)
  }
  return withErrors(context, first)
}
