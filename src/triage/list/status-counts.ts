import type { Context } from '../../context.js'
import { isResolved, STATUSES, type Status } from '../../model/workflow.js'
import type { ErrorsFilter } from './errors-filter.js'
import {
  countByStatus,
  type FoundText,
  MAX_COUNTED_ERRORS,
  matchingErrors,
  type StatusTotals,
} from './matching-errors.js'

export interface StatusCount {
  /** Null if unknown: errors with a common search text are not counted completely. */
  count: number | null
  /** True when `count` is a lower bound. */
  is_lower_bound?: true
}

/** `open` is unresolved and not snoozed, `snoozed` is unresolved and snoozed. A status includes its snoozed errors. */
export type StatusCounts = Record<'all' | 'open' | 'snoozed' | Status, StatusCount>

/** Counts for the tabs of the list. Ignores the filters for status and snooze. */
export async function statusCounts(
  context: Context,
  filter: ErrorsFilter,
  { found }: { found?: FoundText } = {},
): Promise<StatusCounts> {
  await context.ready()
  const { status, unresolved, hide_snoozed, ...others } = filter
  const { rows, isLowerBound } = await countByStatus(context, await matchingErrors(context, others, found))
  const countRows = (countRow: (row: StatusTotals['rows'][number]) => number): StatusCount => {
    const count = rows.reduce((sum, row) => sum + countRow(row), 0)
    if (!isLowerBound) return { count }
    return count >= MAX_COUNTED_ERRORS ? { count: MAX_COUNTED_ERRORS, is_lower_bound: isLowerBound } : { count: null }
  }
  const countsByStatus = STATUSES.map((statusName) => [
    statusName,
    countRows((row) => (row.status === statusName ? row.total : 0)),
  ])
  return {
    all: countRows(({ total }) => total),
    open: countRows((row) => (isResolved(row.status) ? 0 : row.total - row.snoozed)),
    snoozed: countRows((row) => (isResolved(row.status) ? 0 : row.snoozed)),
    ...(Object.fromEntries(countsByStatus) as Record<Status, StatusCount>),
  }
}
