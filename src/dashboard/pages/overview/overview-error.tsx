import type { RankedError } from '../../../analytics/ranked-errors.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../href.js'

/** An error in two lines: what and where, and the beginning of its message. */
export function OverviewErrorLink({ error, visit }: { error: RankedError; visit: Visit }): Rendered {
  return (
    <span class="named-error">
      <span class="named-error-line">
        <a href={href(visit, `/errors/${error.id}`)}>{error.error_type}</a>
        {error.place && <code>{error.place}</code>}
      </span>
      <span class="named-error-line muted">
        {applicationOf(error, visit)}
        {error.message}
      </span>
    </span>
  )
}

/** Only where errors of several are mixed. */
function applicationOf(error: RankedError, visit: Visit): string {
  if (visit.application_id !== null || visit.applications.length < 2) return ''
  const name = visit.applications.find(({ id }) => id === error.application_id)?.name
  return name ? `${name} · ` : ''
}
