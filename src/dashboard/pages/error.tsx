import * as v from 'valibot'
import { parseFrame } from '../../model/backtrace.js'
import type { Cause } from '../../model/event.js'
import { id } from '../../model/input.js'
import { MAX_SNOOZE_HOURS, PRIORITIES, STATUSES } from '../../model/workflow.js'
import { perform } from '../../operation.js'
import type { ErrorRecord } from '../../triage/error-record.js'
import { findError } from '../../triage/find-error.js'
import { PriorityBadge, SeverityBadge, StatusBadge, words } from '../components/badges.js'
import { NewestOccurrence } from '../components/circumstances.js'
import { ActionForm, SelectField, TextArea, TextField } from '../components/forms.js'
import { Reference } from '../components/reference.js'
import { exactTime, formatCount, Time } from '../components/time.js'
import { definePage, type Visit } from '../define.js'

/** Everything known of one error, and everything that can be done with it. */
export const error = definePage({
  path: '/errors/:error_id{[0-9]+}',
  text: 'Details of one error',
  parameters: v.object({ error_id: id() }),
  load: (context, parameters): Promise<ErrorRecord> => perform(findError, context, parameters),
  title: ({ error_type, place }) => (place ? `${error_type} in ${place}` : error_type),
  json: (record) => ({ error: record }),
  view: (record, visit) => (
    <>
      <Head record={record} visit={visit} />
      <div class="detail">
        <div>
          <Backtrace title="Backtrace" lines={record.backtrace} />
          {record.causes.map((cause) => (
            <CauseSection cause={cause} />
          ))}
          <NewestOccurrence record={record} visit={visit} />
          <Occurrences record={record} visit={visit} />
          <Trail record={record} visit={visit} />
        </div>
        <aside>
          <Facts record={record} visit={visit} />
          <Actions record={record} visit={visit} />
        </aside>
      </div>
    </>
  ),
})

interface Props {
  record: ErrorRecord
  visit: Visit
}

function Head({ record, visit }: Props) {
  return (
    <header class="head">
      <p>
        <a href={`${visit.base}/errors?unresolved=true&hide_snoozed=true`}>Errors</a>
      </p>
      <h1>{record.error_type}</h1>
      <pre class="message" tabindex={0}>
        {record.message || '(no message)'}
      </pre>
      <p>
        <SeverityBadge severity={record.severity} /> <StatusBadge status={record.status} />{' '}
        <PriorityBadge level={record.priority_level} /> {record.snoozed && <span class="badge">snoozed</span>}{' '}
        <code>{record.place}</code>
      </p>
    </header>
  )
}

function Backtrace({ title, lines }: { title: string; lines: readonly string[] }) {
  return (
    <section>
      <h2>{title}</h2>
      {lines.length === 0 ? <p class="empty">No backtrace was sent with it.</p> : <Frames lines={lines} />}
    </section>
  )
}

/** The host's own frames stand out from those of libraries and of Node.js. */
function Frames({ lines }: { lines: readonly string[] }) {
  return (
    <pre class="backtrace" tabindex={0}>
      {lines.map((line) => (
        <span class={parseFrame(line, '').in_app ? 'frame' : 'library frame'}>{line}</span>
      ))}
    </pre>
  )
}

function CauseSection({ cause }: { cause: Cause }) {
  return (
    <section class="cause">
      <h2>{`${words(cause.relation)}: ${cause.error_type}${cause.code ? ` (${cause.code})` : ''}`}</h2>
      <pre class="message" tabindex={0}>
        {cause.message}
      </pre>
      {cause.backtrace.length > 0 && <Frames lines={cause.backtrace} />}
      {(cause.causes ?? []).map((inner) => (
        <CauseSection cause={inner} />
      ))}
    </section>
  )
}

function Occurrences({ record, visit }: Props) {
  return (
    <section>
      <h2>Newest occurrences</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Message</th>
            <th scope="col">User</th>
            <th scope="col">Platform</th>
            <th scope="col">Version</th>
          </tr>
        </thead>
        <tbody>
          {record.occurrences.map((occurrence) => (
            <tr>
              <td>
                <Time iso={occurrence.occurred_at} visit={visit} />
              </td>
              <td class="message">{occurrence.message}</td>
              <td>{occurrence.user_id}</td>
              <td>{occurrence.platform}</td>
              <td>{occurrence.app_version}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** Comments and activities in the order in which they happened. */
function Trail({ record, visit }: Props) {
  const entries = [
    ...record.activities
      .filter(({ action }) => action !== 'commented')
      .map((activity) => ({
        at: activity.created_at,
        who: activity.actor,
        what: words(activity.action),
        change: [activity.from_value, activity.to_value].filter(Boolean).join(' → '),
        text: activity.comment,
      })),
    ...record.comments.map((comment) => ({
      at: comment.created_at,
      who: comment.author_name,
      what: 'commented',
      change: '',
      text: comment.body,
    })),
  ].sort((a, b) => a.at.localeCompare(b.at))
  return (
    <section>
      <h2>Activity</h2>
      {entries.length === 0 && <p class="empty">Nobody has done anything with this error yet.</p>}
      <ol class="trail">
        {entries.map(({ at, who, what, change, text }) => (
          <li>
            <p>
              <strong>{who}</strong> {what} <Reference text={change} /> <Time iso={at} visit={visit} />
            </p>
            {text && <p class="body">{text}</p>}
          </li>
        ))}
      </ol>
      <ActionForm visit={visit} to={`/errors/${record.id}/add_comment`} submit="Comment">
        <TextField name="author_name" label="Your name" value={visit.user} required />
        <TextArea name="body" label="Comment" required />
      </ActionForm>
    </section>
  )
}

function Facts({ record, visit }: Props) {
  return (
    <dl class="facts">
      <dt>Events</dt>
      <dd>{formatCount(record.occurrence_count)}</dd>
      <dt>Users</dt>
      <dd>{formatCount(record.user_count)}</dd>
      <dt>First seen</dt>
      <dd>
        <Time iso={record.first_seen_at} visit={visit} /> {record.first_app_version}
      </dd>
      <dt>Last seen</dt>
      <dd>
        <Time iso={record.occurred_at} visit={visit} /> {record.app_version}
      </dd>
      <dt>Application</dt>
      <dd>{record.application_name}</dd>
      <dt>Platform</dt>
      <dd>{record.platform}</dd>
      <dt>Assigned to</dt>
      <dd>{record.assigned_to ?? 'nobody'}</dd>
      {record.snoozed_until && record.snoozed && (
        <>
          <dt>Snoozed until</dt>
          <dd>
            {exactTime(record.snoozed_until, visit.time_zone)} {record.snooze_reason}
          </dd>
        </>
      )}
      {record.resolved && (
        <>
          <dt>Resolved by</dt>
          <dd>
            {record.resolved_by_name} {record.resolution_comment} <Reference text={record.resolution_reference ?? ''} />
          </dd>
        </>
      )}
      <dt>Signature</dt>
      <dd>
        <code class="signature">{record.hash_signature}</code>
      </dd>
    </dl>
  )
}

function Actions({ record, visit }: Props) {
  const to = (action: string) => `/errors/${record.id}/${action}`
  return (
    <div class="actions">
      {!record.resolved && (
        <details>
          <summary>Resolve</summary>
          <ActionForm visit={visit} to={to('resolve')} submit="Resolve" primary>
            <TextField name="resolved_by_name" label="Your name" value={visit.user} />
            <TextArea name="resolution_comment" label="What was it?" />
            <TextField name="resolution_reference" label="Link to the change" />
          </ActionForm>
        </details>
      )}
      <details>
        <summary>Status</summary>
        <ActionForm visit={visit} to={to('update_status')} submit="Set status">
          <SelectField
            name="status"
            label="Status"
            options={STATUSES.map((status) => [status, words(status)] as const)}
            value={record.status}
          />
          <TextField name="comment" label="Comment" />
        </ActionForm>
      </details>
      <details>
        <summary>Assign</summary>
        <ActionForm visit={visit} to={to('assign')} submit="Assign">
          <TextField name="assigned_to" label="To" value={record.assigned_to ?? ''} required />
        </ActionForm>
        {record.assigned_to && <ActionForm visit={visit} to={to('unassign')} submit="Unassign" />}
      </details>
      <details>
        <summary>Priority</summary>
        <ActionForm visit={visit} to={to('update_priority')} submit="Set priority">
          <SelectField
            name="priority_level"
            label="Priority"
            options={PRIORITIES.map((word, level) => [String(level), word] as const)}
            value={String(record.priority_level)}
          />
        </ActionForm>
      </details>
      <details>
        <summary>Snooze</summary>
        <ActionForm visit={visit} to={to('snooze')} submit="Snooze">
          <TextField name="hours" label="Hours" type="number" min={1} max={MAX_SNOOZE_HOURS} value="24" required />
          <TextField name="reason" label="Reason" />
        </ActionForm>
        {record.snoozed && <ActionForm visit={visit} to={to('unsnooze')} submit="End snooze" />}
      </details>
      <details>
        <summary>Delete</summary>
        <form method="post" action={`${visit.base}/errors/batch_action`}>
          <input type="hidden" name="error_ids[]" value={String(record.id)} />
          <button type="submit" name="action_type" value="delete" class="danger">
            Delete this error and its history
          </button>
        </form>
      </details>
    </div>
  )
}
