import type { ErrorSummary } from '../../../triage/queries/error-record.js'
import type { Rendered, Visit } from '../../define.js'
import { href, type LinkParameters } from '../../href.js'
import { PriorityBadge, RegressionBadge, SeverityBadge, StatusBadge } from '../../ui/badges.js'
import { Sparkline } from '../../ui/charts.js'
import { SortableHead, type SortOrder } from '../../ui/sortable-head.js'
import { exactTime, formatCount, Time } from '../../ui/time.js'
import { MutedNote } from '../error/muted.js'
import { InTurns } from './in-turns.js'
import { Initials } from './initials.js'

/** Lists that were read without their trend show none. */
export type RowError = ErrorSummary & { daily_counts?: readonly number[] }

/** Errors as rows of two lines; with `form` each has a checkbox that belongs to it, with `sort` the heads sort. */
export function ErrorRows({
  errors,
  visit,
  empty = null,
  form,
  sort,
  all_chosen = false,
  behind,
}: {
  errors: readonly RowError[]
  visit: Visit
  /** Stands in place of the table when there is no row. */
  empty?: Rendered
  form?: string
  sort?: SortOrder
  all_chosen?: boolean
  /** What the links of the rows carry, so that the way back leads to this list. */
  behind?: LinkParameters
}): Rendered {
  if (errors.length === 0) return empty
  const has_trend = errors.some(({ daily_counts }) => daily_counts !== undefined)
  return (
    <table class="rows">
      <thead>
        <tr>
          {form && <ChooseAll />}
          <SortableHead field="error_type" sort={sort} class="what">
            Error
          </SortableHead>
          {has_trend && (
            <th scope="col" class="trend">
              Last 7 days
            </th>
          )}
          <SortableHead field="occurrence_count" sort={sort} class="number events">
            Events
          </SortableHead>
          <SortableHead field="occurred_at" sort={sort} class="seen">
            Last seen
          </SortableHead>
          <SortableHead field="severity" sort={sort} class="severity">
            Severity
          </SortableHead>
          <SortableHead field="status" sort={sort} class="status">
            Status
          </SortableHead>
          <SortableHead field="platform" sort={sort} class="origin">
            Platform
          </SortableHead>
          <th scope="col" class="who">
            <span class="hidden">Assignee</span>
          </th>
        </tr>
      </thead>
      <tbody>
        <InTurns
          parts={errors.map((error) => (
            <Row
              error={error}
              link={href(visit, `/errors/${error.id}`, behind)}
              visit={visit}
              form={form}
              has_trend={has_trend}
              is_chosen={all_chosen}
            />
          ))}
        />
      </tbody>
    </table>
  )
}

/** Shown by script, which makes it work. */
function ChooseAll() {
  return (
    <th scope="col" class="pick">
      <label hidden>
        <input type="checkbox" data-choose-all />
        <span class="hidden">Choose all on this page</span>
      </label>
      <span class="hidden">Choose</span>
    </th>
  )
}

function Row({
  error,
  link,
  visit,
  form,
  has_trend,
  is_chosen,
}: {
  error: RowError
  link: string
  visit: Visit
  form: string | undefined
  has_trend: boolean
  is_chosen: boolean
}) {
  return (
    <tr data-row={String(error.id)}>
      {form && (
        <td class="pick">
          <label>
            <input
              type="checkbox"
              name="error_ids[]"
              value={String(error.id)}
              form={form}
              checked={is_chosen}
              autocomplete="off"
              data-choose
            />
            <span class="hidden">{`Choose ${error.error_type} ${error.id}`}</span>
          </label>
        </td>
      )}
      <What error={error} link={link} visit={visit} />
      {has_trend && (
        <td class="trend" data-field="daily_counts">
          {error.daily_counts && <Sparkline values={error.daily_counts} label="Events of the last 7 days" />}
        </td>
      )}
      <td class="number events">
        <span data-field="occurrence_count">{formatCount(error.occurrence_count)}</span>
        <span class="unit"> {error.occurrence_count === 1 ? 'event' : 'events'}</span>
        <small>
          <span data-field="user_count">{formatCount(error.user_count)}</span>{' '}
          {error.user_count === 1 ? 'user' : 'users'}
        </small>
      </td>
      <td class="seen">
        <span data-field="occurred_at">
          <Time iso={error.occurred_at} visit={visit} />
        </span>
        <small>
          first <Time iso={error.first_seen_at} visit={visit} />
        </small>
      </td>
      <td class="severity">
        <span data-field="severity">
          <SeverityBadge severity={error.severity} />
        </span>
        <PriorityBadge level={error.priority_level} />
      </td>
      <td class="status">
        <span data-field="status">
          <StatusBadge status={error.status} />
        </span>
        {error.snoozed_until && error.snoozed && (
          <small class="snoozed" title={`Until ${exactTime(error.snoozed_until, visit.time_zone)}`}>
            snoozed
          </small>
        )}
        <MutedNote error={error} visit={visit} />
      </td>
      <td class="origin">
        <span>{error.platform}</span>
        {error.app_version && <small title={`Version ${error.app_version}`}>{error.app_version}</small>}
      </td>
      <td class="who">{error.assigned_to && <Initials name={error.assigned_to} />}</td>
    </tr>
  )
}

function What({ error, link, visit }: { error: RowError; link: string; visit: Visit }) {
  const is_mixed = visit.applications.length > 1 && visit.application_id === null
  return (
    <td class="what">
      <p class="headline">
        <a class="row-link" href={link} data-row-link>
          <bdi>{error.error_type}</bdi>
        </a>
        <RegressionBadge version={error.regressed_in_version} />
        {error.place && <code class="row-place">{error.place}</code>}
      </p>
      <p class="message">
        {is_mixed && <span class="application">{error.application_name}</span>}
        <bdi>{shortened(error.message)}</bdi>
      </p>
    </td>
  )
}

/** Far more than a row has room for, and far less than a message can be. */
const MESSAGE_LIMIT = 240

function shortened(message: string): string {
  if (message.length <= MESSAGE_LIMIT) return message
  // Half a pair of surrogates would be shown as a broken letter.
  return `${message.slice(0, MESSAGE_LIMIT).replace(/[\uD800-\uDBFF]$/, '')}…`
}
