import type { RankedError } from '../../../analytics/ranked-errors.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { Place } from '../../ui/place.js'

/** Error link with type and message, and a second line with application and location. */
export function OverviewErrorLink({ error, visit }: { error: RankedError; visit: Visit }): Rendered {
  return (
    <NamedError href={href(visit, `/errors/${error.id}`)} type={error.error_type} message={error.message}>
      <ApplicationName error={error} visit={visit} />
      {error.place && <Place place={error.place} />}
    </NamedError>
  )
}

/** Two lines: type and message, then the origin. */
export function NamedError({
  href,
  type,
  message,
  children,
}: {
  href: string
  type: string
  message: string | null
  children?: Rendered
}): Rendered {
  return (
    <span class="named-error">
      <span class="named-error-line named-error-title">
        <a href={href}>{type}</a>
        {message && <span class="named-error-message"> {message}</span>}
      </span>
      <span class="named-error-line named-error-origin">{children}</span>
    </span>
  )
}

/** Name of the application, if the page mixes several applications. */
function ApplicationName({ error, visit }: { error: RankedError; visit: Visit }): Rendered {
  if (visit.application_id !== null || visit.applications.length < 2) return null
  return <span>{visit.applications.find(({ id }) => id === error.application_id)?.name}</span>
}
