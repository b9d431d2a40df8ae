import type { RankedError } from '../../../analytics/ranked-errors.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { Place } from '../../ui/place.js'

/** Error link with type and location, and a second line with the message. */
export function OverviewErrorLink({ error, visit }: { error: RankedError; visit: Visit }): Rendered {
  return (
    <span class="named-error">
      <span class="named-error-line named-error-title">
        <a href={href(visit, `/errors/${error.id}`)}>{error.error_type}</a>
        {error.place && <Place place={error.place} />}
      </span>
      <span class="named-error-line named-error-message">
        {applicationPrefix(error, visit)}
        {error.message}
      </span>
    </span>
  )
}

/** Application prefix, if the page mixes several applications. */
function applicationPrefix(error: RankedError, visit: Visit): string {
  if (visit.application_id !== null || visit.applications.length < 2) return ''
  const name = visit.applications.find(({ id }) => id === error.application_id)?.name
  return name ? `${name} · ` : ''
}
