import type { Context } from '../../context.js'
import { isResolved, STATUSES, type Status } from '../../model/workflow.js'
import type { ErrorsFilter } from './errors-filter.js'
import { COUNT_BOUND, type FoundText, matchingErrors, type StatusTally, tallyByStatus } from './matching-errors.js'

export interface StatusCount {
  /** Null where it is not known: of what has a common text not all are counted. */
  count: number | null
  /** There are at least so many. */
  is_bound?: true
}

/** `open` is unresolved and not snoozed, `snoozed` is unresolved and snoozed; a status counts its snoozed ones too. */
export type StatusCounts = Record<'all' | 'open' | 'snoozed' | Status, StatusCount>

/** How many errors fit all of the filter but what it says of status and snoozing: the numbers on the list's tabs. */
export async function statusCounts(
  context: Context,
  filter: ErrorsFilter,
  { found }: { found?: FoundText } = {},
): Promise<StatusCounts> {
  await context.ready()
  const { status, unresolved, hide_snoozed, ...others } = filter
  const { rows, is_bound } = await tallyByStatus(context, await matchingErrors(context, others, found))
  const counted = (of: (row: StatusTally['rows'][number]) => number): StatusCount => {
    const count = rows.reduce((sum, row) => sum + of(row), 0)
    if (!is_bound) return { count }
    return count >= COUNT_BOUND ? { count: COUNT_BOUND, is_bound } : { count: null }
  }
  const each = STATUSES.map((one) => [one, counted((row) => (row.status === one ? row.total : 0))])
  return {
    all: counted(({ total }) => total),
    open: counted((row) => (isResolved(row.status) ? 0 : row.total - row.snoozed)),
    snoozed: counted((row) => (isResolved(row.status) ? 0 : row.snoozed)),
    ...(Object.fromEntries(each) as Record<Status, StatusCount>),
  }
}
