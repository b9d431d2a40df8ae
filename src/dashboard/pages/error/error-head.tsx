import { shortPlace } from '../../../model/stacks/code-place.js'
import { locationPhrase } from '../../../triage/queries/error-location.js'
import type { ErrorNeighbors } from '../../../triage/queries/error-neighbors.js'
import type { ErrorRecord } from '../../../triage/queries/error-record.js'
import type { Rendered, Visit } from '../../define.js'
import { href, openErrorsLink } from '../../links/href.js'
import { backToListLink, type ListOrigin } from '../../links/list-origin.js'
import { shortLink, shortName } from '../../links/short-link.js'
import { formatIdentifier, PriorityBadge, RegressionBadge, SeverityBadge, StatusBadge } from '../../ui/badges.js'
import { CopyButton } from '../../ui/copy.js'
import { Icon } from '../../ui/icons.js'
import { formatCount, Time } from '../../ui/time.js'
import { MutedBadge } from './actions/muted.js'

/** Longer messages are truncated, with the full text below. */
const MAX_TITLE_CHARACTERS = 200
/** Longer titles can exceed the four lines of a title on a phone. */
const MAX_PHONE_TITLE_CHARACTERS = 100

const MAX_PLACE_CHARACTERS = 180

/** Type, location and message of the error, one line of facts, and the actions. */
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
  /** Previous and next error of the originating list. */
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
          <li>
            {shortName(record)}
            <span id="error-link" hidden>
              {shortLink(visit, record)}
            </span>
            <CopyButton from="error-link" label="Copy link" shortcut="l" />
          </li>
        </ol>
        {neighbors && (neighbors.previous_id !== null || neighbors.next_id !== null) && (
          <div class="error-beside">
            {neighbors.previous_id !== null && (
              <a rel="prev" href={errorLink(neighbors.previous_id)} title="Shortcut: k">
                <Icon name="fold" />
                Previous error
              </a>
            )}
            {neighbors.next_id !== null && (
              <a rel="next" href={errorLink(neighbors.next_id)} title="Shortcut: j">
                Next error
                <Icon name="unfold" />
              </a>
            )}
          </div>
        )}
      </nav>
      <p class="error-kind">
        <SeverityBadge severity={record.severity} /> <bdi class="error-type">{record.error_type}</bdi>{' '}
        {location && (
          <span class="muted">
            {location.relation === 'caused at' && 'caused at '}
            <LocationCode place={location.place} />
          </span>
        )}
      </p>
      <h1>
        <bdi>{messageTitle(record)}</bdi>
      </h1>
      <FullMessage text={record.message} />
      <ErrorMeta record={record} visit={visit} />
      {children}
    </header>
  )
}

/**
 * Location that keeps its end visible. On a phone, only two lines are shown and a long path is truncated at the start.
 */
function LocationCode({ place }: { place: string }): Rendered {
  const text = shortPlace(place, MAX_PLACE_CHARACTERS)
  const [, start, end = text] = /^(.+?)(.{70})$/su.exec(text) ?? [text, '', text]
  return (
    <code title={place}>
      {start && <span class="place-start">{start}</span>}
      <span class="place-end">{end}</span>
    </code>
  )
}

/** First line of the message, or the type if the message is empty. */
export function messageTitle({ message, error_type }: Pick<ErrorRecord, 'message' | 'error_type'>): string {
  const line = message.trimStart().split('\n', 1)[0] ?? ''
  if (line === '') return error_type
  return line.length > MAX_TITLE_CHARACTERS ? `${line.slice(0, MAX_TITLE_CHARACTERS)}…` : line
}

/** Full message, if it does not fit into the title. */
function FullMessage({ text }: { text: string }): Rendered {
  const fitsIntoTitle = text.length <= MAX_TITLE_CHARACTERS && !text.includes('\n')
  if (fitsIntoTitle && text.length <= MAX_PHONE_TITLE_CHARACTERS) return null
  return (
    <details class={fitsIntoTitle ? 'error-message on-phone' : 'error-message'}>
      <summary>{`Show the whole message (${formatCount(text.length)} characters)`}</summary>
      <div class="code-box">
        <pre id="error-message" dir="auto" tabindex={0}>
          {text}
        </pre>
        <CopyButton from="error-message" label="Copy message" />
      </div>
    </details>
  )
}

/** State, application, environment, versions and times. */
function ErrorMeta({ record, visit }: { record: ErrorRecord; visit: Visit }): Rendered {
  const comments = record.comments.length
  return (
    <p class="error-meta">
      {record.status !== 'new' && <StatusBadge status={record.status} />}
      <PriorityBadge level={record.priority_level} />
      <RegressionBadge version={record.regressed_in_version} />
      {record.snoozed && <span class="badge">snoozed</span>}
      <MutedBadge error={record} visit={visit} />
      <bdi>{record.application_name}</bdi>
      <bdi>{record.environment}</bdi>
      <OtherEnvironments record={record} visit={visit} />
      {record.last_app_version && (
        <span>
          <a href={href(visit, '/errors', { app_version: record.last_app_version })}>
            <bdi>{record.last_app_version}</bdi>
          </a>
        </span>
      )}
      <span>
        first seen <Time iso={record.first_seen_at} visit={visit} />
      </span>
      <span>
        last seen <Time iso={record.occurred_at} visit={visit} />
      </span>
      {comments > 0 && (
        <span>
          <a href="#activity">{comments === 1 ? '1 comment' : `${formatCount(comments)} comments`}</a>
        </span>
      )}
    </p>
  )
}

/** Links to the same error in other environments. */
function OtherEnvironments({ record: { other_environments }, visit }: { record: ErrorRecord; visit: Visit }) {
  if (other_environments.length === 0) return null
  return (
    <span>
      {'also in '}
      {other_environments.map(({ id, environment, status, occurrence_count }, i) => (
        <>
          {i > 0 && ', '}
          <a
            href={href(visit, `/errors/${id}`, { environment: visit.environment && environment })}
            title={`${formatCount(occurrence_count)} occurrences, ${formatIdentifier(status)}`}
          >
            <bdi>{environment}</bdi>
          </a>
        </>
      ))}
    </span>
  )
}
