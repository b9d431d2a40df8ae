import { STATUSES } from '../../../model/workflow.js'
import type { ErrorsFilter } from '../../../triage/list/errors-list.js'
import type { StatusCount, StatusCounts } from '../../../triage/list/status-counts.js'
import type { Rendered, Visit } from '../../define.js'
import { listLink } from '../../links/list-link.js'
import { capitalize, words } from '../../ui/badges.js'
import { Tabs } from '../../ui/layout/tabs.js'
import { formatCount } from '../../ui/time.js'

export interface StatusProps {
  filter: ErrorsFilter
  counts: StatusCounts
  visit: Visit
}

/** Status filters with the number of matching errors. */
export function StatusTabs({ filter, counts, visit }: StatusProps): Rendered {
  const current = currentTab(filter)
  const to = (changes: Record<string, string | boolean>) => listLink(visit, filter, { ...ANY_STATUS, ...changes })
  return (
    <Tabs
      label="Status"
      tabs={[
        {
          label: 'Open',
          href: to({ unresolved: true, hide_snoozed: true }),
          current: current === 'open',
          count: countText(counts.open),
        },
        ...STATUSES.map((status) => ({
          label: capitalize(words(status)),
          href: to({ status }),
          current: current === status,
          count: countText(counts[status]),
        })),
        { label: 'All', href: to({}), current: current === 'all', count: countText(counts.all) },
      ]}
    />
  )
}

/** Removes the filters that a tab sets. */
export const ANY_STATUS = { status: null, unresolved: null, hide_snoozed: null } as const

/** Current tab; null if no tab matches the filter. */
export function currentTab({ status, unresolved, hide_snoozed }: ErrorsFilter): string | null {
  if (status) return status
  if (unresolved && hide_snoozed) return 'open'
  return unresolved || hide_snoozed ? null : 'all'
}

/** Undefined for an unknown count. */
export function countText({ count, is_lower_bound }: StatusCount): string | undefined {
  return count === null ? undefined : formatCount(count, is_lower_bound)
}
