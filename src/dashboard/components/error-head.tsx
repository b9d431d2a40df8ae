import type { ErrorRecord } from '../../triage/error-record.js'
import type { Rendered, Visit } from '../define.js'
import { openErrors } from '../href.js'
import { PriorityBadge, RegressionBadge, SeverityBadge, StatusBadge } from './badges.js'
import { CopyButton } from './copy.js'
import { formatCount } from './time.js'

/** More than this is folded away until somebody wants it. */
const FOLDED_LINES = 12
const FOLDED_CHARACTERS = 1200

/** What went wrong and where, and below it what can be done about it. */
export function ErrorHead({
  record,
  visit,
  children,
}: {
  record: ErrorRecord
  visit: Visit
  children?: Rendered
}): Rendered {
  const message = record.occurrence?.message ?? record.message
  return (
    <header class="error-head">
      <nav aria-label="Where this is">
        <ol class="error-path">
          <li>
            <a href={openErrors(visit)}>Errors</a>
          </li>
          <li>{`${record.application_name} #${record.id}`}</li>
        </ol>
      </nav>
      <h1 dir="auto">{record.error_type}</h1>
      <Message text={message} />
      <p class="error-badges">
        <SeverityBadge severity={record.severity} /> <StatusBadge status={record.status} />{' '}
        <PriorityBadge level={record.priority_level} /> <RegressionBadge version={record.regressed_in_version} />{' '}
        {record.snoozed && <span class="badge">snoozed</span>}{' '}
        {record.place && <code class="muted">{record.place}</code>}
      </p>
      {children}
    </header>
  )
}

function Message({ text }: { text: string }): Rendered {
  if (text === '') return <p class="muted">(no message)</p>
  const isLong = text.length > FOLDED_CHARACTERS || text.split('\n', FOLDED_LINES + 1).length > FOLDED_LINES
  return (
    <div class={isLong ? 'error-message long' : 'error-message'}>
      <pre id="error-message" dir="auto">
        {text}
      </pre>
      <div class="error-message-tools">
        {isLong && (
          <details class="message-unfold">
            <summary>
              <span class="while-folded">{`Show all ${formatCount(text.length)} characters`}</span>
              <span class="while-open">Show less</span>
            </summary>
          </details>
        )}
        <CopyButton from="error-message" label="Copy message" />
      </div>
    </div>
  )
}
