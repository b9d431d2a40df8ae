import type { RankedError } from '../../analytics/ranked-errors.js'
import type { Rendered, Visit } from '../define.js'
import { href } from '../links/href.js'

type NamedError = Pick<RankedError, 'id' | 'error_type' | 'place' | 'message'>

/** Error in a ranking: type and message, then the location. Pass `link` to link to several errors. */
export function ErrorLink({
  error: { id, error_type, message, place },
  link,
  visit,
}: {
  error: NamedError
  link?: string
  visit: Visit
}): Rendered {
  return (
    <span class="error-link">
      <span class="error-link-line">
        <a href={link ?? href(visit, `/errors/${id}`)}>
          <bdi>{error_type}</bdi>
        </a>{' '}
        <bdi>{message}</bdi>
      </span>
      {place && <code class="error-link-place">{place}</code>}
    </span>
  )
}
