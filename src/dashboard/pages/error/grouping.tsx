import type { ErrorGrouping } from '../../../triage/queries/error-grouping.js'
import type { Rendered } from '../../define.js'
import { CopyButton } from '../../ui/copy.js'

const EXPLANATIONS: Record<ErrorGrouping['grouped_by'], string> = {
  parts:
    'Occurrences with the same type, message and location are grouped. Variable parts of the message are ignored. An anonymous function is identified by a digest of its source line.',
  many_messages: 'Too many different messages at this location, so they are grouped by type and location.',
  other: 'Grouped by custom_fingerprint, or by values that were filtered before storage.',
}

/** Fingerprint and the grouping rule. */
export function Grouping({ grouping, hash_signature }: { grouping: ErrorGrouping; hash_signature: string }): Rendered {
  return (
    <section class="panel" aria-labelledby="grouping-title">
      <h3 id="grouping-title">Grouping</h3>
      <p class="muted">{EXPLANATIONS[grouping.grouped_by]}</p>
      {grouping.grouped_by !== 'other' && (
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
          <dt>Location</dt>
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
