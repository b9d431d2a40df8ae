import type { OccurrenceBreadcrumb } from '../../../../triage/queries/error-record.js'
import type { Rendered } from '../../../define.js'
import { words } from '../../../ui/badges.js'
import { timeOfDay } from '../../../ui/time.js'
import type { ErrorProps } from '../actions/error-form.js'
import { RepeatedStatements } from './repeated-statements.js'

/** Timeline of breadcrumbs, oldest first, ending in the error. */
export function Breadcrumbs({ record, visit }: ErrorProps): Rendered {
  const { breadcrumbs, occurrence } = record
  if (breadcrumbs.length === 0 || !occurrence) return null
  const end = Date.parse(occurrence.occurred_at)
  return (
    <section class="panel" aria-labelledby="crumbs-title">
      <div class="panel-head">
        <h2 id="crumbs-title">Breadcrumbs</h2>
        <p class="meta muted">Oldest first</p>
      </div>
      <RepeatedStatements record={record} visit={visit} />
      <ol class="crumbs">
        {breadcrumbs.map((crumb) => (
          <Crumb crumb={crumb} msBeforeError={end - Date.parse(crumb.occurred_at)} time_zone={visit.time_zone} />
        ))}
        <li class="crumb end">
          <time datetime={occurrence.occurred_at}>{timeOfDay(occurrence.occurred_at, visit.time_zone)}</time>
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
  time_zone,
}: {
  crumb: OccurrenceBreadcrumb
  msBeforeError: number
  time_zone: string
}): Rendered {
  const { occurred_at, category, message, duration_ms, metadata } = crumb
  return (
    <li class="crumb">
      <time datetime={occurred_at} title={msBeforeError >= 0 ? `${msBeforeError} ms before the error` : undefined}>
        {timeOfDay(occurred_at, time_zone)}
      </time>
      <span class="badge">{category}</span>
      <span class="crumb-text" dir="auto">
        {message}
        {metadata && <code class="muted">{formatMetadata(metadata)}</code>}
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
    .map(([key, value]) => `${words(key)}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(', ')
}
