import { readOptions } from '../../../../config/options.js'
import { nPlusOneOptions } from '../../../../diagnostics/n-plus-one/options.js'
import { repeatedStatements } from '../../../../model/sql/repeated-breadcrumbs.js'
import type { OccurrenceBreadcrumb } from '../../../../triage/queries/error-record.js'
import type { Rendered, Visit } from '../../../define.js'
import { href } from '../../../links/href.js'
import { formatIdentifier } from '../../../ui/badges.js'
import { formatCount, TimeOfDay } from '../../../ui/time.js'
import { formatMilliseconds } from '../../../ui/units.js'
import { Clamped } from '../../../ui/values/clamped.js'
import type { ErrorProps } from '../actions/error-form.js'

/** Earlier breadcrumbs are collapsed. */
const MAX_OPEN_CRUMBS = 15

/** Timeline of breadcrumbs, oldest first, ending in the error. */
export function Breadcrumbs({ record, visit }: ErrorProps): Rendered {
  const { breadcrumbs, occurrence } = record
  if (breadcrumbs.length === 0 || !occurrence) return null
  const end = Date.parse(occurrence.occurred_at)
  const earlier = breadcrumbs.slice(0, -MAX_OPEN_CRUMBS)
  const list = (crumbs: readonly OccurrenceBreadcrumb[]) =>
    crumbs.map((crumb) => <Crumb crumb={crumb} msBeforeError={end - Date.parse(crumb.occurred_at)} visit={visit} />)
  return (
    <section class="panel" aria-labelledby="crumbs-title">
      <div class="panel-head">
        <h2 id="crumbs-title">Breadcrumbs</h2>
        <p class="meta muted">Oldest first</p>
      </div>
      <RepeatedStatements record={record} visit={visit} />
      {earlier.length > 0 && (
        <details>
          <summary>{`Show ${formatCount(earlier.length)} earlier`}</summary>
          <ol class="crumbs">{list(earlier)}</ol>
        </details>
      )}
      <ol class="crumbs">
        {list(breadcrumbs.slice(-MAX_OPEN_CRUMBS))}
        <li class="crumb end">
          <TimeOfDay iso={occurrence.occurred_at} visit={visit} />
          <span class="badge severity-critical">error</span>
          <span class="crumb-text" dir="auto">
            <strong>{record.error_type}</strong> {firstLine(occurrence.message)}
          </span>
        </li>
      </ol>
    </section>
  )
}

function Crumb({
  crumb,
  msBeforeError,
  visit,
}: {
  crumb: OccurrenceBreadcrumb
  msBeforeError: number
  visit: Visit
}): Rendered {
  const { occurred_at, category, message, duration_ms, metadata } = crumb
  return (
    <li class="crumb">
      <TimeOfDay
        iso={occurred_at}
        visit={visit}
        note={msBeforeError >= 0 ? `${msBeforeError} ms before the error` : undefined}
      />
      <span class="badge">{category}</span>
      <span class="crumb-text" dir="auto">
        <Clamped text={message} />
        {metadata && (
          <code class="muted">
            <Clamped text={formatMetadata(metadata)} />
          </code>
        )}
      </span>
      {duration_ms !== undefined && <span class="muted">{`${duration_ms} ms`}</span>}
    </li>
  )
}

function firstLine(message: string): string {
  const line = message.split('\n', 1)[0] ?? ''
  return line.length > 200 ? `${line.slice(0, 200)}…` : line
}

function formatMetadata(metadata: Record<string, unknown>): string {
  return Object.entries(metadata)
    .map(
      ([key, value]) =>
        `${formatIdentifier(key)}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
    )
    .join(', ')
}

const MAX_SHOWN_STATEMENTS = 3

/** Warns if the failed request repeated a statement. */
function RepeatedStatements({ record, visit }: ErrorProps): Rendered {
  const options = readOptions(visit.diagnosticOptions, nPlusOneOptions)
  const found = repeatedStatements(record.breadcrumbs, options.n_plus_one_threshold)
  if (found.length === 0) return null
  return (
    <ul class="repeated" aria-label="Repeated statements">
      {found.slice(0, MAX_SHOWN_STATEMENTS).map(({ statement, count, duration_ms }) => (
        <li class="callout">
          This request ran <code>{statement}</code> {formatCount(count)} times
          {duration_ms > 0 && ` (${formatMilliseconds(duration_ms)} in total)`}.
        </li>
      ))}
      {options.detect_n_plus_one_queries && (
        <li>
          <a href={href(visit, '/errors/n_plus_one')}>All N+1 queries</a>
        </li>
      )}
    </ul>
  )
}
