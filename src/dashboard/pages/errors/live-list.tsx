import type { ErrorsFilter } from '../../../triage/list/errors-list.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { activeFilters, listLink } from '../../links/list-link.js'
import { Arrivals } from '../../ui/arrivals.js'

/** List with live updates by `assets/js/live.js`. New errors are announced above the list, without moving its rows. */
export function LiveList({
  visit,
  filter,
  children,
}: {
  visit: Visit
  filter: ErrorsFilter
  children?: Rendered
}): Rendered {
  return (
    <section
      class="list"
      aria-label="Errors"
      data-list
      data-live={`${visit.base}/errors/live`}
      data-changes={href(visit, '/errors/changes.json', activeFilters(filter))}
      data-since={new Date(visit.now).toISOString()}
      data-time-zone={visit.time_zone}
    >
      <Arrivals href={listLink(visit, filter, { sort_by: null, sort_direction: null })} />
      {children}
    </section>
  )
}
