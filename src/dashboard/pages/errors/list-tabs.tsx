import type { ErrorsFilter } from '../../../triage/list/errors-list.js'
import {
  currentTab,
  TABS,
  type TabCount,
  type TabCounts,
  tabFilter,
  withoutTab,
} from '../../../triage/list/list-tabs.js'
import type { Rendered, Visit } from '../../define.js'
import { listLink } from '../../links/list-link.js'
import { capitalize } from '../../ui/badges.js'
import { Tabs } from '../../ui/layout/tabs.js'
import { formatCount } from '../../ui/time.js'

export interface ListTabsProps {
  filter: ErrorsFilter
  counts: TabCounts
  visit: Visit
}

/** Tabs with the number of matching errors. A tab keeps the other filters. */
export function ListTabs({ filter, counts, visit }: ListTabsProps): Rendered {
  const current = currentTab(filter, visit.user)
  const others = withoutTab(filter, visit.user)
  return (
    <Tabs
      label="Lists"
      tabs={TABS.map((tab) => ({
        label: capitalize(tab),
        href: listLink(visit, { ...others, ...tabFilter(tab, visit.user) }),
        current: tab === current,
        count: countText(counts[tab]),
      }))}
    />
  )
}

/** Undefined for an unknown count. */
export function countText({ count, is_lower_bound }: TabCount): string | undefined {
  return count === null ? undefined : formatCount(count, is_lower_bound)
}
