import type { Rendered } from '../../define.js'
import { href } from '../../links/href.js'
import { listLink } from '../../links/list-link.js'
import { Empty } from '../../ui/empty.js'
import { filterChips } from './filter-chips.js'
import { ANY_STATUS, countText, currentTab, type StatusProps } from './status-tabs.js'

/** Empty state of the list with the next step. */
export function NoErrors({ filter, counts, visit }: StatusProps): Rendered {
  const clearLink = <a href={href(visit, '/errors')}>Clear filters</a>
  if (filterChips(filter).length > 0) return <Empty title="No errors match your filters.">{clearLink}</Empty>
  if (counts.all.count === 0) {
    return (
      <Empty title="No errors yet" code={"await Tracker.Commands.LogError.call({ exception: new Error('Hello') })"}>
        Throw in one of your routes, or send a test error:
      </Empty>
    )
  }
  return (
    <Empty title={currentTab(filter) === 'open' ? 'No open errors' : 'No errors with this status'}>
      <a href={listLink(visit, filter, ANY_STATUS)}>{`Show all ${countText(counts.all) ?? ''}`}</a>
    </Empty>
  )
}
