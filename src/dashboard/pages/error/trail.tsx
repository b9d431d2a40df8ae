import { MAX_TEXT_LENGTH } from '../../../triage/commands/change-errors.js'
import type { Activity, Comment } from '../../../triage/queries/error-record.js'
import { allows } from '../../access.js'
import type { Rendered, Visit } from '../../define.js'
import { formatIdentifier } from '../../ui/badges.js'
import { ActorNameField, TextArea } from '../../ui/forms.js'
import { ExactTime, Time } from '../../ui/time.js'
import { ErrorForm, type ErrorProps } from './actions/error-form.js'
import { Markdown } from './markdown.js'

/** Comments and activity in chronological order, with the comment form. */
export function ActivityTrail(props: ErrorProps): Rendered {
  const { record, visit } = props
  const entries = [
    ...record.activities
      // Comments are listed with their text below.
      .filter(({ action }) => action !== 'commented')
      .map((activity) => ({ at: activity.created_at, item: <ActivityItem activity={activity} visit={visit} /> })),
    ...record.comments.map((comment) => ({
      at: comment.created_at,
      item: <CommentItem comment={comment} visit={visit} />,
    })),
  ].sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
  return (
    <section class="panel" id="activity" aria-labelledby="trail-title">
      <div class="panel-head">
        <h2 id="trail-title">Comments and activity</h2>
      </div>
      <ol class="trail">
        <li class="trail-activity">
          <p>
            First seen <Time iso={record.first_seen_at} visit={visit} />
            {record.first_app_version && ` in ${record.first_app_version}`}
          </p>
        </li>
        {entries.map(({ item }) => item)}
      </ol>
      {allows(visit, 'responder') && <CommentForm {...props} />}
    </section>
  )
}

function CommentForm(props: ErrorProps): Rendered {
  return (
    <ErrorForm {...props} action="add_comment">
      <div class="comment-form">
        <TextArea name="body" label="Comment" required maxlength={MAX_TEXT_LENGTH} />
        <p class="meta muted">Markdown: **bold**, *italic*, `code`, ``` code blocks, lists and links.</p>
        <ActorNameField name="author_name" visit={props.visit} required />
        <button type="submit">Comment</button>
      </div>
    </ErrorForm>
  )
}

function CommentItem({ comment, visit }: { comment: Comment; visit: Visit }): Rendered {
  return (
    <li class="trail-comment" id={`comment-${comment.id}`}>
      <p class="trail-by">
        <strong>
          <bdi>{comment.author_name}</bdi>
        </strong>{' '}
        commented <Time iso={comment.created_at} visit={visit} />
      </p>
      <TrailText text={comment.body} />
    </li>
  )
}

function ActivityItem({ activity, visit }: { activity: Activity; visit: Visit }): Rendered {
  return (
    <li class="trail-activity">
      <p>
        <strong>
          <bdi>{activity.actor}</bdi>
        </strong>{' '}
        {activityText(activity, visit)} <Time iso={activity.created_at} visit={visit} />
      </p>
      {activity.comment && <TrailText text={activity.comment} />}
    </li>
  )
}

function activityText({ action, from_value, to_value }: Activity, visit: Visit): Rendered {
  const from = from_value === null ? '' : formatIdentifier(from_value)
  const to = to_value === null ? '' : formatIdentifier(to_value)
  switch (action) {
    case 'resolved':
      return from_value === to_value ? 'updated the resolution' : 'resolved this'
    case 'reopened':
      return 'reopened this'
    case 'regressed':
      return 'marked this as a regression'
    case 'assigned':
      return from_value ? `reassigned this from ${from_value} to ${to_value}` : `assigned this to ${to_value}`
    case 'unassigned':
      return from_value ? `unassigned ${from_value}` : 'removed the assignee'
    case 'status_changed':
      return from === to ? `kept the status ${to}` : `changed the status from ${from} to ${to}`
    case 'priority_changed':
      return `changed the priority from ${from} to ${to}`
    case 'snoozed':
      return to_value ? <Until action="snoozed" iso={to_value} visit={visit} /> : 'snoozed this'
    case 'muted':
      return to_value ? <Until action="muted" iso={to_value} visit={visit} /> : 'muted this indefinitely'
    case 'unmuted':
      return 'unmuted this'
    case 'unsnoozed':
      return 'ended the snooze'
    default:
      return [formatIdentifier(action), from && to ? `${from} → ${to}` : from || to].filter(Boolean).join(' ')
  }
}

function Until({ action, iso, visit }: { action: string; iso: string; visit: Visit }): Rendered {
  return (
    <>
      {`${action} this until `}
      <ExactTime iso={iso} visit={visit} />
    </>
  )
}

function TrailText({ text }: { text: string }): Rendered {
  return (
    <div class="trail-text">
      <Markdown text={text} />
    </div>
  )
}
