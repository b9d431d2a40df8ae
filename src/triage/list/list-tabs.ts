import type { Context } from '../../context.js'
import { isResolved } from '../../model/workflow.js'
import type { ErrorsFilter } from './errors-filter.js'
import {
  countErrors,
  type FoundText,
  MAX_COUNTED_ERRORS,
  type MatchingErrors,
  matchingErrors,
  type StatusTotals,
  sharedStatusTotals,
} from './matching-errors.js'

export const TABS = ['open', 'mine', 'regressed', 'snoozed', 'resolved', 'all'] as const
export type TabName = (typeof TABS)[number]

/** Filters of a tab. `user` is the name of the viewer. */
export function tabFilter(tab: TabName, user: string): ErrorsFilter {
  const filters: Record<TabName, ErrorsFilter> = {
    open: { unresolved: true, hide_snoozed: true },
    mine: { unresolved: true, hide_snoozed: true, assigned_to: user },
    regressed: { regressed: true },
    snoozed: { snoozed: true },
    resolved: { status: 'resolved' },
    all: {},
  }
  return filters[tab]
}

/** Tab of a filter. Null if no tab matches. */
export function currentTab(filter: ErrorsFilter, user: string): TabName | null {
  const { status, unresolved, hide_snoozed, regressed, snoozed, assigned_to } = filter
  if (regressed) return 'regressed'
  if (snoozed) return 'snoozed'
  if (status === 'resolved') return 'resolved'
  if (unresolved && hide_snoozed) return assigned_to === user ? 'mine' : 'open'
  return unresolved || hide_snoozed ? null : 'all'
}

/** Filter without the conditions that the current tab sets. */
export function withoutTab(filter: ErrorsFilter, user: string): ErrorsFilter {
  const { unresolved, hide_snoozed, regressed, snoozed, ...others } = filter
  const tab = currentTab(filter, user)
  return {
    ...others,
    ...(tab === 'resolved' && { status: undefined }),
    ...(tab === 'mine' && { assigned_to: undefined }),
  }
}

export interface TabCount {
  /** Null if unknown, because not all errors were counted. */
  count: number | null
  /** True when `count` is a lower bound. */
  is_lower_bound?: true
}

export type TabCounts = Record<TabName, TabCount>

/** Counts the matching errors of each tab. */
export async function tabCounts(
  context: Context,
  filter: ErrorsFilter,
  { user, found }: { user: string; found?: FoundText },
): Promise<TabCounts> {
  await context.ready()
  const others = withoutTab(filter, user)
  const countTab = async (tab: TabName): Promise<TabCount> => {
    const tabErrors = { ...others, ...tabFilter(tab, user) }
    const { count, isLowerBound } = await countErrors(
      context,
      await matchingErrors(context, tabErrors, found),
      tabErrors,
    )
    return isLowerBound ? { count, is_lower_bound: true } : { count }
  }
  const [{ rows, isLowerBound }, mine, regressed] = await Promise.all([
    sharedStatusTotals(context, others, found),
    countTab('mine'),
    countTab('regressed'),
  ])
  const countRows = (countRow: (row: StatusTotals['rows'][number]) => number): TabCount => {
    const count = rows.reduce((sum, row) => sum + countRow(row), 0)
    if (!isLowerBound) return { count }
    return count >= MAX_COUNTED_ERRORS ? { count: MAX_COUNTED_ERRORS, is_lower_bound: isLowerBound } : { count: null }
  }
  return {
    open: countRows((row) => (isResolved(row.status) ? 0 : row.total - row.snoozed)),
    mine,
    regressed,
    snoozed: countRows((row) => (isResolved(row.status) ? 0 : row.snoozed)),
    // The tab replaces a status filter, so the shared counts do not apply.
    resolved: others.status
      ? await countTab('resolved')
      : countRows((row) => (row.status === 'resolved' ? row.total : 0)),
    all: countRows(({ total }) => total),
  }
}

/** Counts the errors of a list. Derives the count from the tab counts if possible, because the page needs both. */
export async function countListed(
  context: Context,
  matching: MatchingErrors,
  filter: ErrorsFilter,
  found?: FoundText,
): Promise<{ count: number; isLowerBound: boolean }> {
  const { status, unresolved, hide_snoozed, snoozed, regressed, ...others } = filter
  const isBlocking = context.database.dialect.blocksHost && matching.isBroad
  if (regressed || matching.isCountLimited || !(found || isBlocking))
    return countErrors(context, matching, filter, found)
  // The Resolved tab sets the status itself.
  const tabErrors = status === 'resolved' ? others : { ...others, status }
  const { rows } = await sharedStatusTotals(context, tabErrors, found)
  const counted = rows.filter(
    (row) => (status === undefined || row.status === status) && !((unresolved || snoozed) && isResolved(row.status)),
  )
  const count = counted.reduce((sum, { total, snoozed: sleeping }) => {
    if (snoozed) return sum + (hide_snoozed ? 0 : sleeping)
    return sum + total - (hide_snoozed ? sleeping : 0)
  }, 0)
  return { count, isLowerBound: false }
}
