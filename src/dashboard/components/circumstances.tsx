import type { Circumstances, ErrorRecord, OccurrenceBreadcrumb } from '../../triage/error-record.js'
import type { Visit } from '../define.js'
import { words } from './badges.js'
import { timeOfDay } from './time.js'

interface Props {
  record: ErrorRecord
  visit: Visit
}

/** What was captured with the newest occurrence: breadcrumbs, request, tags, context and the rest. */
export function NewestOccurrence({ record, visit }: Props) {
  return (
    <>
      <Breadcrumbs crumbs={record.breadcrumbs} visit={visit} />
      <Request record={record} />
      <Data title="Tags" values={record.tags} />
      <Data title="Context" values={record.context} />
      <Data title="Details" values={record.details} />
    </>
  )
}

function Breadcrumbs({ crumbs, visit }: { crumbs: readonly OccurrenceBreadcrumb[]; visit: Visit }) {
  if (crumbs.length === 0) return null
  return (
    <section>
      <h2>Breadcrumbs</h2>
      <p class="muted">What happened before, oldest first.</p>
      <ol class="crumbs">
        {crumbs.map(({ occurred_at, category, message, duration_ms, metadata }) => (
          <li>
            <time datetime={occurred_at}>{timeOfDay(occurred_at, visit.time_zone)}</time>
            <span class="badge">{category}</span>
            <span class="text">
              {message}
              {metadata && <code>{inline(metadata)}</code>}
            </span>
            {duration_ms !== undefined && <span class="muted">{`${duration_ms} ms`}</span>}
          </li>
        ))}
      </ol>
    </section>
  )
}

function Request({ record }: { record: Circumstances & { user_id: string | null } }) {
  const { method, route, content_type, duration_ms, headers } = record.request ?? {}
  const rows: Facts = [
    ['Request', [method, record.request_url].filter(Boolean).join(' ')],
    ['Route', route],
    ['User', record.user_id],
    ['IP address', record.ip_address],
    ['User agent', record.user_agent],
    ['Content type', content_type],
    ['Took so far', duration_ms === undefined ? null : `${duration_ms} ms`],
  ]
  if (rows.every(([, value]) => !value) && record.request_params === null) return null
  return (
    <section>
      <h2>Request</h2>
      <FactList rows={rows} />
      <Data title="Parameters" values={record.request_params} level={3} />
      <Data title="Headers" values={headers} level={3} folded />
    </section>
  )
}

type Facts = readonly (readonly [label: string, value: unknown])[]

function FactList({ rows }: { rows: Facts }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([label, value]) => (
          <>
            <dt>{label}</dt>
            <dd>{String(value)}</dd>
          </>
        ))}
    </dl>
  )
}

/** Values as rows where they are short, as indented JSON where they are nested. */
function Data({
  title,
  values,
  level = 2,
  folded = false,
}: {
  title: string
  values: unknown
  level?: 2 | 3
  folded?: boolean
}) {
  if (values === null || values === undefined || (typeof values === 'object' && Object.keys(values).length === 0)) {
    return null
  }
  const body = <Values values={values} />
  if (folded) {
    return (
      <details>
        <summary>{title}</summary>
        {body}
      </details>
    )
  }
  return level === 2 ? (
    <section>
      <h2>{title}</h2>
      {body}
    </section>
  ) : (
    <>
      <h3>{title}</h3>
      {body}
    </>
  )
}

function Values({ values }: { values: unknown }) {
  if (!isObject(values) || Array.isArray(values)) return <Json value={values} />
  const entries = Object.entries(values).flatMap(unfolded)
  const flat = entries.filter(([, value]) => !isObject(value))
  const nested = entries.filter(([, value]) => isObject(value))
  return (
    <>
      {flat.length > 0 && (
        <FactList rows={flat.map(([key, value]) => [key, value === null ? 'null' : value] as const)} />
      )}
      {nested.length > 0 && <Json value={Object.fromEntries(nested)} />}
    </>
  )
}

/** Short values one level down (`process.pid`) read better as rows of their own. */
function unfolded([key, value]: [string, unknown]): [string, unknown][] {
  if (!isObject(value) || Array.isArray(value)) return [[key, value]]
  const inner = Object.entries(value)
  const isShort = inner.length > 0 && inner.every(([, one]) => !isObject(one))
  return isShort ? inner.map(([name, one]) => [`${key}.${name}`, one]) : [[key, value]]
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function Json({ value }: { value: unknown }) {
  return (
    <pre class="data" tabindex={0}>
      {JSON.stringify(value, null, 2)}
    </pre>
  )
}

function inline(metadata: Record<string, unknown>): string {
  return Object.entries(metadata)
    .map(([key, value]) => `${words(key)}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(', ')
}
