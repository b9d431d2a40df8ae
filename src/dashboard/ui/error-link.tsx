import type { RankedError } from '../../analytics/ranked-errors.js'
import type { Rendered, Visit } from '../define.js'
import { href } from '../links/href.js'

type NamedError = Pick<RankedError, 'id' | 'error_type' | 'place' | 'message'>

/** Error in a ranking: type, location and message. */
export function ErrorLink({ error, visit }: { error: NamedError; visit: Visit }): Rendered {
  return (
    <span class="error-link">
      <span class="error-link-title">
        <a href={href(visit, `/errors/${error.id}`)}>{error.error_type}</a>
        {error.place && <code>{error.place}</code>}
      </span>
      <span class="error-link-message">{error.message}</span>
    </span>
  )
}
