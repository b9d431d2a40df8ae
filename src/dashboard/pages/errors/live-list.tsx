import type { ErrorsFilter } from '../../../triage/list/errors-list.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../href.js'
import { listAddress, settings } from '../../list-address.js'

/** A list that `assets/js/live.js` keeps true. What arrives is announced above it, and moves nothing in it. */
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
      data-changes={href(visit, '/errors/changes.json', settings(filter))}
      data-since={new Date(visit.now).toISOString()}
      data-time-zone={visit.time_zone}
    >
      <div class="arrivals" data-arrivals hidden>
        <a class="button primary" href={listAddress(visit, filter, { sort_by: null, sort_direction: null })}>
          <span data-arrivals-text />
          <span>– Show</span>
        </a>
      </div>
      {children}
    </section>
  )
}
