import type { ErrorSummary } from '../../../triage/queries/error-record.js'
import type { LinkParameters, Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { PriorityBadge, RegressionBadge, SeverityBadge, StatusBadge } from '../../ui/badges.js'
import { Sparkline } from '../../ui/charts/charts.js'
import { Initials } from '../../ui/initials.js'
import { Marked } from '../../ui/marked.js'
import { Place } from '../../ui/place.js'
import { formatCount, Time } from '../../ui/time.js'
import { YieldingList } from '../../ui/yielding-list.js'
import { MutedNote } from '../error/actions/muted.js'
import { SortableHead, type SortOrder } from './sortable-head.js'

/** Row of the list. Has no trend if the list was loaded without daily counts. */
export type RowError = ErrorSummary & { daily_counts?: readonly number[] }

/** Table of errors. `form` adds checkboxes for bulk actions; `sort` makes the columns sortable. */
export function ErrorRows({
  errors,
  visit,
  empty = null,
  form,
  sort,
  allSelected = false,
  origin,
  matches = [],
}: {
  errors: readonly RowError[]
  visit: Visit
  /** Empty state, shown instead of the table. */
  empty?: Rendered
  form?: string | undefined
  sort?: SortOrder
  allSelected?: boolean
  /** List parameters in the links of the rows, for the link back. */
  origin?: LinkParameters
  /** Search terms to highlight in the rows, in lower case. */
  matches?: readonly string[]
}): Rendered {
  if (errors.length === 0) return empty
  const maxDailyCount = highestDailyCount(errors)
  return (
    <table class="rows">
      <thead>
        <tr>
          {form && <SelectAllCheckbox />}
          <SortableHead field="error_type" sort={sort} class="what">
            Error
          </SortableHead>
          {maxDailyCount !== null && (
            <th scope="col" class="trend" title="Square-root scale, the same for all errors on the page">
              Last 7 days
            </th>
          )}
          <SortableHead field="occurrence_count" sort={sort} class="number occurrence-count">
            Occurrences
          </SortableHead>
          <SortableHead field="occurred_at" sort={sort} class="seen">
            Last seen
          </SortableHead>
          <SortableHead field="platform" sort={sort} class="origin">
            Platform
          </SortableHead>
          <th scope="col" class="who">
            Assignee
          </th>
        </tr>
      </thead>
      <tbody>
        <YieldingList
          items={errors}
          render={(error) => (
            <Row
              error={error}
              link={href(visit, `/errors/${error.id}`, origin)}
              visit={visit}
              form={form}
              maxDailyCount={maxDailyCount}
              isSelected={allSelected}
              matches={matches}
            />
          )}
        />
      </tbody>
    </table>
  )
}

/** Null if the errors were loaded without daily counts. */
function highestDailyCount(errors: readonly RowError[]): number | null {
  const counts = errors.flatMap(({ daily_counts }) => daily_counts ?? [])
  return counts.length === 0 ? null : Math.max(...counts)
}

/** Revealed by JavaScript, which it requires. */
function SelectAllCheckbox() {
  return (
    <th scope="col" class="pick">
      <label hidden>
        <input type="checkbox" data-select-all />
        <span class="hidden">Select all on this page</span>
      </label>
      <span class="hidden">Select</span>
    </th>
  )
}

function Row({
  error,
  link,
  visit,
  form,
  maxDailyCount,
  isSelected,
  matches,
}: {
  error: RowError
  link: string
  visit: Visit
  form: string | undefined
  /** Highest count of the page, or null if the rows have no daily counts. */
  maxDailyCount: number | null
  isSelected: boolean
  matches: readonly string[]
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
              checked={isSelected}
              autocomplete="off"
              data-select-row
            />
            <span class="hidden">{`Select ${error.error_type} ${error.id}`}</span>
          </label>
        </td>
      )}
      <ErrorCell error={error} link={link} visit={visit} matches={matches} />
      {maxDailyCount !== null && (
        <td class="trend">
          {error.daily_counts && (
            <>
              <Sparkline values={error.daily_counts} label="Occurrences in the last 7 days" commonMax={maxDailyCount} />
              <small>
                max <span data-field="daily_max">{formatCount(Math.max(...error.daily_counts))}</span>
              </small>
            </>
          )}
        </td>
      )}
      <td class="number occurrence-count">
        <span data-field="occurrence_count">{formatCount(error.occurrence_count)}</span>
        <span class="unit"> {error.occurrence_count === 1 ? 'occurrence' : 'occurrences'}</span>
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
      <td class="origin">
        <span>{error.platform}</span>
        {error.app_version && <small title={`Version ${error.app_version}`}>{error.app_version}</small>}
      </td>
      <td class="who">{error.assigned_to && <Initials name={error.assigned_to} />}</td>
    </tr>
  )
}

function ErrorCell({
  error,
  link,
  visit,
  matches,
}: {
  error: RowError
  link: string
  visit: Visit
  matches: readonly string[]
}) {
  const isMixed = visit.applications.length > 1 && visit.application_id === null
  return (
    <td class="what">
      <p class="headline">
        <a class="row-link" href={link} data-row-link>
          <bdi>
            <Marked text={error.error_type} matches={matches} />
          </bdi>
        </a>
        <span class="row-summary">
          <RegressionBadge version={error.regressed_in_version} />
          <span class="row-status" data-field="status">
            <StatusBadge status={error.status} />
          </span>
          <bdi class="message">
            <Marked text={messageExcerpt(error.message, matches)} matches={matches} />
          </bdi>
        </span>
      </p>
      <p class="row-source">
        {/* Shows a shape, with visible text for critical and high. */}
        <span class="row-severity" data-field="severity" title={`Severity: ${error.severity}`}>
          <SeverityBadge severity={error.severity} />
        </span>
        <span class="row-origin">
          {isMixed && <span class="application">{error.application_name}</span>}
          {error.environment !== visit.options.environment && <span class="application">{error.environment}</span>}
          {error.place && <Place place={error.place} matches={matches} />}
        </span>
        <span class="row-notes">
          <FoundElsewhere error={error} matches={matches} />
          <PriorityBadge level={error.priority_level} />
          {error.snoozed_until && error.snoozed && (
            <small>
              {'snoozed, ends '}
              <Time iso={error.snoozed_until} visit={visit} />
            </small>
          )}
          <MutedNote error={error} visit={visit} />
        </span>
      </p>
    </td>
  )
}

/** Explains a row in which a search term is not visible. */
function FoundElsewhere({ error, matches }: { error: RowError; matches: readonly string[] }) {
  const row = [error.error_type, error.message, error.place].join('\n').toLowerCase()
  const missing = matches.filter((text) => !row.includes(text))
  if (missing.length === 0) return null
  return (
    <small title="Found in the stack trace, a URL, a tag, a user id or an earlier message">
      {`${missing.map((text) => `“${text}”`).join(', ')} in the details`}
    </small>
  )
}

/** Exceeds the width of a row. Limits the page size. */
const MAX_MESSAGE_LENGTH = 240
/** Text before a match. Leaves the match visible in a narrow column. */
const MAX_LEADING_LENGTH = 24
/** A match up to this position is visible in most rows. */
const MAX_VISIBLE_START = 60

/** Start of a message, or the part around a match that the row would cut off. */
function messageExcerpt(message: string, matches: readonly string[]): string {
  const positions = matches.map((text) => message.toLowerCase().indexOf(text)).filter((position) => position >= 0)
  const first = Math.min(...positions)
  if (positions.length === 0 || first <= MAX_VISIBLE_START) return truncateMessage(message)
  // Removes the rest of a character that the cut divides.
  return `…${truncateMessage(message.slice(first - MAX_LEADING_LENGTH).replace(/^[\uDC00-\uDFFF]/, ''))}`
}

function truncateMessage(message: string): string {
  if (message.length <= MAX_MESSAGE_LENGTH) return message
  // Removes an unpaired surrogate, which would show as a broken character.
  return `${message.slice(0, MAX_MESSAGE_LENGTH).replace(/[\uD800-\uDBFF]$/, '')}…`
}
