import type { ErrorRecord, Occurrence, SelectedOccurrence } from '../../../../triage/queries/error-record.js'
import type { Rendered, Visit } from '../../../define.js'
import { currentPageWith } from '../../../links/href.js'
import { Pages } from '../../../ui/pagination.js'
import { ExactTime, formatCount, Time } from '../../../ui/time.js'
import type { ErrorProps } from '../actions/error-form.js'

/** Current occurrence with links to its neighbors. */
export function OccurrenceStep({ record, visit }: ErrorProps): Rendered {
  const { occurrence } = record
  if (!occurrence) return null
  return (
    <nav class="occurrence-step" aria-label="Occurrence">
      <p>
        <strong>{occurrenceLabel(occurrence, storedText(record))}</strong>{' '}
        <span class="muted">
          <Time iso={occurrence.occurred_at} visit={visit} /> · <ExactTime iso={occurrence.occurred_at} visit={visit} />
        </span>
      </p>
      <p class="steps">
        <Step visit={visit} to={occurrence.previous_id} relation="prev">
          Older
        </Step>
        <Step visit={visit} to={occurrence.next_id} relation="next">
          Newer
        </Step>
        {occurrence.next_id !== null && (
          <a class="button quiet" href={currentPageWith(visit, { occurrence_id: null })}>
            Newest
          </a>
        )}
      </p>
    </nav>
  )
}

function occurrenceLabel({ position, id }: SelectedOccurrence, stored: string): string {
  if (position === 1) return 'Newest occurrence'
  return position === null ? `Occurrence ${id}` : `Occurrence ${formatCount(position)} of ${stored}`
}

function storedText({ occurrences_pagination: { total_count, total_is_lower_bound } }: ErrorRecord): string {
  return `${formatCount(total_count, total_is_lower_bound)} stored`
}

function Step({
  visit,
  to,
  relation,
  children,
}: {
  visit: Visit
  to: number | null
  relation: 'prev' | 'next'
  children?: Rendered
}): Rendered {
  if (to === null) return null
  return (
    <a class="button" rel={relation} href={currentPageWith(visit, { occurrence_id: to })}>
      {children}
    </a>
  )
}

/** Rows of the first page that are visible before it is expanded. */
const MAX_OPEN_ROWS = 10

/** Paginated list of the stored occurrences. The first page has to be expanded before its pagination is visible. */
export function Occurrences({ record, visit }: ErrorProps): Rendered {
  const pagination = record.occurrences_pagination
  if (record.occurrences.length === 0) return null
  const openCount = pagination.page === 1 ? MAX_OPEN_ROWS : record.occurrences.length
  const more = record.occurrences.slice(openCount)
  const rows = { visit, shownId: record.occurrence?.id }
  const pageLink = (number: number) =>
    `${currentPageWith(visit, { page: number, occurrence_id: visit.query.get('occurrence_id') })}#occurrences`
  const pages = pagination.total_pages > 1 && (
    <nav class="pagination" aria-label="Occurrence pages">
      <Pages pagination={pagination} linkTo={pageLink} labels={['Newer', 'Older']} />
    </nav>
  )
  return (
    <section class="panel" id="occurrences" aria-labelledby="occurrences-title">
      <div class="panel-head">
        <h2 id="occurrences-title">Occurrences</h2>
        <p class="meta muted">{`${formatCount(record.occurrence_count)} in total, latest ${storedText(record)}`}</p>
      </div>
      <Rows occurrences={record.occurrences.slice(0, openCount)} {...rows} />
      {more.length > 0 ? (
        <details open={visit.query.has('page') || more.some(({ id }) => id === rows.shownId)}>
          <summary>{`Show ${more.length} more`}</summary>
          <Rows occurrences={more} {...rows} />
          {pages}
        </details>
      ) : (
        pages
      )}
    </section>
  )
}

function Rows({
  occurrences,
  visit,
  shownId,
}: {
  occurrences: readonly Occurrence[]
  visit: Visit
  shownId: number | undefined
}): Rendered {
  return (
    <ol>
      {occurrences.map((occurrence) => (
        <Row occurrence={occurrence} visit={visit} isShown={occurrence.id === shownId} />
      ))}
    </ol>
  )
}

function Row({ occurrence, visit, isShown }: { occurrence: Occurrence; visit: Visit; isShown: boolean }): Rendered {
  const { id, occurred_at, message, user_id, platform, app_version } = occurrence
  const page = visit.query.get('page')
  return (
    <li class={isShown ? 'occurrence shown' : 'occurrence'}>
      <a href={currentPageWith(visit, { occurrence_id: id, page })} aria-current={isShown ? 'true' : undefined}>
        <Time iso={occurred_at} visit={visit} />
      </a>
      <span class="occurrence-message" dir="auto">
        {message.length > 300 ? `${message.slice(0, 300)}…` : message}
      </span>
      <span class="muted meta">{[user_id, platform, app_version].filter(Boolean).join(' · ')}</span>
    </li>
  )
}
