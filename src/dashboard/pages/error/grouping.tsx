import type { ErrorGrouping } from '../../../triage/queries/error-grouping.js'
import type { Rendered } from '../../define.js'
import { CopyButton } from '../../ui/copy.js'

const WHY: Record<ErrorGrouping['by'], string> = {
  parts:
    'Occurrences of the same type, message and place are one error. Variable parts of the message do not count. A function without a name is identified by a digest of its source line.',
  many_messages: 'Too many different messages came from this place, so they share one error by type and place.',
  other: 'These were grouped by custom_fingerprint, or by values that were filtered out before anything was stored.',
}

/** The fingerprint, and why these occurrences have it. */
export function Grouping({ grouping, hash_signature }: { grouping: ErrorGrouping; hash_signature: string }): Rendered {
  return (
    <section class="panel" aria-labelledby="grouping-title">
      <div class="panel-head">
        <h2 id="grouping-title">Why these are one error</h2>
      </div>
      <p class="muted">{WHY[grouping.by]}</p>
      {grouping.by !== 'other' && (
        <dl class="facts">
          <dt>Type</dt>
          <dd>
            <code>{grouping.error_type}</code>
          </dd>
          <dt>Message</dt>
          <dd class="clamped" dir="auto">
            <code>{grouping.message || '(none)'}</code>
          </dd>
          {grouping.root_cause !== null && (
            <>
              <dt>Root cause</dt>
              <dd>
                <code>{grouping.root_cause}</code>
              </dd>
            </>
          )}
          <dt>Place</dt>
          <dd>
            {grouping.place.length === 0 && '(none)'}
            {grouping.place.map((place) => (
              <p>
                <code>{place}</code>
              </p>
            ))}
          </dd>
        </dl>
      )}
      <p class="signature">
        <code id="signature">{hash_signature}</code> <CopyButton from="signature" label="Copy fingerprint" />
      </p>
    </section>
  )
}
