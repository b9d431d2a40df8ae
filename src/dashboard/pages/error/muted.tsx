import type { ErrorSummary } from '../../../triage/queries/error-record.js'
import type { Rendered, Visit } from '../../define.js'
import { exactTime } from '../../ui/time.js'

const HINT_LENGTH = 300

interface MutedProps {
  error: ErrorSummary
  visit: Visit
}

/** That no messages are sent about an error, and who wanted that, until when and why. */
export function MutedBadge({ error, visit }: MutedProps): Rendered {
  if (!error.muted) return null
  return (
    <span class="badge muted-badge" title={whole(error, visit)}>
      <bdi>{`muted ${muteText(error, visit)}`}</bdi>
    </span>
  )
}

/** The same in a row of a list, where there is room for a word. */
export function MutedNote({ error, visit }: MutedProps): Rendered {
  if (!error.muted) return null
  return (
    <small class="snoozed" title={whole(error, visit)}>
      muted
    </small>
  )
}

export function muteText({ muted_until, muted_by_name }: ErrorSummary, visit: Visit): string {
  const until = muted_until === null ? 'until unmuted' : `until ${exactTime(muted_until, visit.time_zone)}`
  return muted_by_name === null ? until : `${until}, by ${muted_by_name}`
}

function whole(error: ErrorSummary, visit: Visit): string {
  const why = error.mute_reason === null ? '' : `, because: ${error.mute_reason.slice(0, HINT_LENGTH)}`
  return `Muted ${muteText(error, visit)}${why}`
}
