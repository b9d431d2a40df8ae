import { currentTab, type TabName, withoutTab } from '../../../triage/list/list-tabs.js'
import type { Rendered } from '../../define.js'
import { href } from '../../links/href.js'
import { listLink } from '../../links/list-link.js'
import { Empty } from '../../ui/empty.js'
import { FirstRun } from '../../ui/first-run.js'
import { filterChips } from './filter-chips.js'
import { countText, type ListTabsProps } from './list-tabs.js'

/** Empty state of the list with the next step. */
export function NoErrors({ filter, counts, hint, visit }: ListTabsProps & { hint: string | null }): Rendered {
  if (filterChips(filter, visit.user).length > 0)
    return (
      <Empty title="No errors match your filters.">
        {hint} <a href={href(visit, '/errors')}>Clear filters</a>
      </Empty>
    )
  if (counts.all.count === 0) return <FirstRun visit={visit} />
  return (
    <Empty title={EMPTY_TITLES[currentTab(filter, visit.user) ?? 'all']}>
      <a href={listLink(visit, withoutTab(filter, visit.user))}>{`Show all ${countText(counts.all) ?? ''}`}</a>
    </Empty>
  )
}

const EMPTY_TITLES: Record<TabName, string> = {
  open: 'No open errors',
  mine: 'No open errors are assigned to you',
  regressed: 'No errors have regressed',
  snoozed: 'No errors are snoozed',
  resolved: 'No errors are resolved',
  all: 'No errors',
}
