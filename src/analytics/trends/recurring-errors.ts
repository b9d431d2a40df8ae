import type { Context } from '../../context.js'
import { DAY } from '../../model/time.js'
import { withoutIndex } from '../../store/sort-order.js'
import { type RankedError, withErrors } from '../ranked-errors.js'
import type { Scope } from '../sums/application-filter.js'

/** Open for longer than this, and seen again within it. */
export const PERSISTENT_DAYS = 7

export interface RecurringError extends RankedError {
  occurrence_count: number
  /** Whole days since it was first seen. */
  open_days: number
}

/** Errors that nobody resolved for over a week and that still occur, the most frequent first. */
export async function recurringErrors(
  context: Context,
  { application_id }: Scope,
  limit: number,
): Promise<RecurringError[]> {
  const now = context.now()
  const week_ago = now - PERSISTENT_DAYS * DAY
  const rows = await context.database.read
    .selectFrom('faultboard_errors')
    .select(['id', 'occurrence_count', 'first_seen_at'])
    .where('resolved', '=', 0)
    // Nearly all were first seen before; only when they were seen last narrows the search.
    .where(withoutIndex(context.database.dialect, 'first_seen_at'), '<', week_ago)
    .where('occurred_at', '>=', week_ago)
    .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
    .orderBy('occurrence_count', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute()
  return withErrors(
    context,
    rows.map(({ id, occurrence_count, first_seen_at }) => ({
      id,
      occurrence_count,
      open_days: Math.floor((now - first_seen_at) / DAY),
    })),
  )
}
