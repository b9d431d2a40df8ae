import type * as v from 'valibot'
import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { DAY } from '../../model/time.js'
import { withoutIndex } from '../../store/sql/sort-order.js'
import { RankedError, withErrors } from '../ranked-errors.js'
import { errorsInScope } from '../sums/scope-conditions.js'

/** Recurring errors have been open for longer than this period and have occurred within it. */
export const RECURRING_AFTER_DAYS = 7

export const RecurringError = r.object({
  ...RankedError.entries,
  occurrence_count: r.integer,
  /** Full days since the first occurrence. */
  open_days: r.number,
})
export type RecurringError = v.InferOutput<typeof RecurringError>

/** Errors unresolved for over a week that still occur, most frequent first. */
export async function recurringErrors(context: Context, scope: Scope, limit: number): Promise<RecurringError[]> {
  const now = context.now()
  const weekAgo = now - RECURRING_AFTER_DAYS * DAY
  const rows = await context.database.read
    .selectFrom('faultboard_errors')
    .select(['id', 'occurrence_count', 'first_seen_at'])
    .where('resolved', '=', 0)
    // Nearly all errors match this condition, so only `occurred_at` should use an index.
    .where(withoutIndex(context.database.dialect, 'first_seen_at'), '<', weekAgo)
    .where('occurred_at', '>=', weekAgo)
    .where(errorsInScope(context, scope, { usesIndex: true }))
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
