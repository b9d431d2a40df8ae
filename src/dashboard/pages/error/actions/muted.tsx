import type { ErrorSummary } from '../../../../triage/queries/error-record.js'
import type { Rendered, Visit } from '../../../define.js'
import { ExactTime, Time } from '../../../ui/time.js'

/** Limits the length of a tooltip. */
const MAX_REASON_LENGTH = 300

interface MutedProps {
  error: ErrorSummary
  visit: Visit
}

/** Badge of a muted error. */
export function MutedBadge({ error, visit }: MutedProps): Rendered {
  if (!error.muted) return null
  return (
    <span class="badge muted-badge" title={muteTooltip(error)}>
      <bdi>
        {'muted '}
        <MutedUntil error={error} visit={visit} />
      </bdi>
    </span>
  )
}

/** Short form for list rows. */
export function MutedNote({ error, visit }: MutedProps): Rendered {
  if (!error.muted) return null
  return (
    <small title={muteTooltip(error)}>
      {error.muted_until === null ? (
        'muted'
      ) : (
        <>
          {'muted, ends '}
          <Time iso={error.muted_until} visit={visit} />
        </>
      )}
    </small>
  )
}

/** End of the mute and who muted the error. */
export function MutedUntil({ error, visit }: MutedProps): Rendered {
  const { muted_until, muted_by_name } = error
  return (
    <>
      {muted_until === null ? (
        'until unmuted'
      ) : (
        <>
          {'until '}
          <ExactTime iso={muted_until} visit={visit} />
        </>
      )}
      {muted_by_name !== null && `, by ${muted_by_name}`}
    </>
  )
}

/** Tooltip without the end of the mute, which the badge shows in the viewer's time zone. */
function muteTooltip({ muted_by_name, mute_reason }: ErrorSummary): string {
  const reason = mute_reason === null ? '' : `. Reason: ${mute_reason.slice(0, MAX_REASON_LENGTH)}`
  return `Muted${muted_by_name === null ? '' : ` by ${muted_by_name}`}${reason}`
}
