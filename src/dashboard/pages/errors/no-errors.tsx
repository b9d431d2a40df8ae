import type { ErrorsFilter } from '../../../triage/list/errors-list.js'
import type { StatusCounts } from '../../../triage/list/status-counts.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../href.js'
import { listAddress } from '../../list-address.js'
import { Empty } from '../../ui/empty.js'
import { chipsOf } from './filter-chips.js'
import { countText, currentTab, WHATEVER_STATUS } from './status-tabs.js'

/** Why a list is empty, and what to do about it. */
export function NoErrors({
  filter,
  counts,
  visit,
}: {
  filter: ErrorsFilter
  counts: StatusCounts
  visit: Visit
}): Rendered {
  const all = <a href={href(visit, '/errors')}>Clear the filters</a>
  if (chipsOf(filter).length > 0) return <Empty title="No error fits these filters.">{all}</Empty>
  if (counts.all.count === 0) {
    return (
      <Empty
        title="Nothing was recorded yet."
        code={"await Tracker.Commands.LogError.call({ exception: new Error('Hello') })"}
      >
        Errors appear here by themselves, the newest first. To see how one looks, throw in one of your routes, or run
        this line in your application:
      </Empty>
    )
  }
  return (
    <Empty title={currentTab(filter) === 'open' ? 'Nothing is open.' : 'No error is in this state.'}>
      <a href={listAddress(visit, filter, WHATEVER_STATUS)}>{`Show all ${countText(counts.all) ?? ''}`}</a>
    </Empty>
  )
}
