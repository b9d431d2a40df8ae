import { STATUSES } from '../../../model/workflow.js'
import type { ErrorsFilter } from '../../../triage/list/errors-list.js'
import type { StatusCount, StatusCounts } from '../../../triage/list/status-counts.js'
import type { Rendered, Visit } from '../../define.js'
import { listAddress } from '../../list-address.js'
import { words } from '../../ui/badges.js'
import { Tabs } from '../../ui/tabs.js'
import { formatCount } from '../../ui/time.js'

/** The states an error can be in, with how many of those that fit the other filters are in each. */
export function StatusTabs({
  filter,
  counts,
  visit,
}: {
  filter: ErrorsFilter
  counts: StatusCounts
  visit: Visit
}): Rendered {
  const current = currentTab(filter)
  const to = (changes: Record<string, string | boolean>) =>
    listAddress(visit, filter, { ...WHATEVER_STATUS, ...changes })
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
          label: capitalised(words(status)),
          href: to({ status }),
          current: current === status,
          count: countText(counts[status]),
        })),
        { label: 'All', href: to({}), current: current === 'all', count: countText(counts.all) },
      ]}
    />
  )
}

/** Takes away what a tab says. */
export const WHATEVER_STATUS = { status: null, unresolved: null, hide_snoozed: null } as const

/** Null where the filter is none that a tab stands for. */
export function currentTab({ status, unresolved, hide_snoozed }: ErrorsFilter): string | null {
  if (status) return status
  if (unresolved && hide_snoozed) return 'open'
  return unresolved || hide_snoozed ? null : 'all'
}

/** No number is better than a wrong one. */
export function countText({ count, is_bound }: StatusCount): string | undefined {
  return count === null ? undefined : formatCount(count, is_bound)
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
