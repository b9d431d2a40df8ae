import { locationPhrase } from '../../../triage/queries/error-location.js'
import type { ErrorNeighbors } from '../../../triage/queries/error-neighbors.js'
import type { ErrorRecord } from '../../../triage/queries/error-record.js'
import type { Rendered, Visit } from '../../define.js'
import { href, openErrorsLink } from '../../links/href.js'
import { backToListLink, type ListOrigin } from '../../links/list-origin.js'
import { PriorityBadge, RegressionBadge, SeverityBadge, StatusBadge } from '../../ui/badges.js'
import { CopyButton } from '../../ui/copy.js'
import { Icon } from '../../ui/icons.js'
import { formatCount } from '../../ui/time.js'
import { MutedBadge } from './actions/muted.js'

/** Longer messages are collapsed. */
const MAX_OPEN_LINES = 12
const MAX_OPEN_CHARACTERS = 1200

/** Type, message, badges and location of the error, followed by its actions. */
export function ErrorHead({
  record,
  visit,
  list,
  neighbors,
  children,
}: {
  record: ErrorRecord
  visit: Visit
  /** List from which the error was opened. */
  list: ListOrigin
  /** Previous and next error of that list. */
  neighbors: ErrorNeighbors | null
  children?: Rendered
}): Rendered {
  const location = locationPhrase(record, visit.options.project_root)
  const errorLink = (id: number) => href(visit, `/errors/${id}`, { ...list })
  return (
    <header class="error-head">
      <nav class="error-where" aria-label="Breadcrumb">
        <ol class="error-path">
          <li>
            <a href={backToListLink(visit, list) ?? openErrorsLink(visit)}>Errors</a>
          </li>
          <li>{`${record.application_name} #${record.id}`}</li>
        </ol>
        {neighbors && (neighbors.previous_id !== null || neighbors.next_id !== null) && (
          <div class="error-beside">
            {neighbors.previous_id !== null && (
              <a rel="prev" href={errorLink(neighbors.previous_id)}>
                <Icon name="fold" />
                Previous error
              </a>
            )}
            {neighbors.next_id !== null && (
              <a rel="next" href={errorLink(neighbors.next_id)}>
                Next error
                <Icon name="unfold" />
              </a>
            )}
          </div>
        )}
      </nav>
      <h1 dir="auto">{record.error_type}</h1>
      <Message text={record.message} />
      <p class="error-badges">
        <SeverityBadge severity={record.severity} /> <StatusBadge status={record.status} />{' '}
        <PriorityBadge level={record.priority_level} /> <RegressionBadge version={record.regressed_in_version} />{' '}
        {record.snoozed && <span class="badge">snoozed</span>} <MutedBadge error={record} visit={visit} />{' '}
        {record.comments.length > 0 && (
          <a href="#activity">
            {record.comments.length === 1 ? '1 comment' : `${formatCount(record.comments.length)} comments`}
          </a>
        )}{' '}
        {location && (
          <span class="muted">
            {location.relation === 'caused at' && 'caused at '}
            <code>{location.place}</code>
          </span>
        )}
      </p>
      {children}
    </header>
  )
}

function Message({ text }: { text: string }): Rendered {
  if (text === '') return <p class="muted">(no message)</p>
  const isLong = text.length > MAX_OPEN_CHARACTERS || text.split('\n', MAX_OPEN_LINES + 1).length > MAX_OPEN_LINES
  return (
    <div class={isLong ? 'error-message long' : 'error-message'}>
      <pre id="error-message" dir="auto">
        {text}
      </pre>
      <div class="error-message-tools">
        {isLong && (
          <details class="message-expand">
            <summary>
              <span class="while-collapsed">{`Show all ${formatCount(text.length)} characters`}</span>
              <span class="while-open">Show less</span>
            </summary>
          </details>
        )}
        <CopyButton from="error-message" label="Copy message" />
      </div>
    </div>
  )
}
