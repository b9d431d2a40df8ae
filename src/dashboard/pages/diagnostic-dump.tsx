import * as v from 'valibot'
import { type DiagnosticDump, findDiagnosticDump } from '../../diagnostics/diagnostic-dump.js'
import { HIDDEN } from '../../diagnostics/node-flags.js'
import { FILTERED } from '../../model/redaction.js'
import { perform } from '../../operation.js'
import { words } from '../components/badges.js'
import { ShareBars } from '../components/charts.js'
import { formatBytes, formatMilliseconds, formatSeconds, formatShare } from '../components/measures.js'
import { PageHead } from '../components/page-head.js'
import { exactTime, formatCount, Time, timeOfDay } from '../components/time.js'
import { definePage, type Rendered, type Visit } from '../define.js'
import { href } from '../href.js'

/** One dump with all its parts. */
export const diagnosticDumpPage = definePage({
  path: '/errors/diagnostic_dumps/:dump_id{[0-9]+}',
  text: 'Details of one diagnostic dump',
  needs: 'enable_diagnostic_dump',
  parameters: v.object(findDiagnosticDump.input.entries),
  load: (context, parameters): Promise<DiagnosticDump> => perform(findDiagnosticDump, context, parameters),
  title: ({ id }) => `Diagnostic dump ${id}`,
  json: (dump) => ({ dump }),
  view: (dump, visit) => (
    <>
      <PageHead
        title={`Diagnostic dump ${dump.id}`}
        context={
          <>
            <Time iso={dump.created_at} visit={visit} />
            {` · ${exactTime(dump.created_at, visit.time_zone)} · ${dump.application_name}`}
            {dump.captured_by && ` · by ${dump.captured_by}`}
          </>
        }
      >
        <a class="button" href={href(visit, '/errors/diagnostic_dumps')}>
          All dumps
        </a>
        <a class="button" href={href(visit, `/errors/diagnostic_dumps/${dump.id}.json`)}>
          JSON
        </a>
      </PageHead>
      {dump.note && <p class="dump-note">{dump.note}</p>}
      <div class="dump-parts">
        <Facts title="Process" values={dump.process} />
        <Facts title="Memory" values={dump.memory} />
        <Facts title="Event loop" values={dump.event_loop} />
        <Facts title="CPU" values={dump.cpu} />
        <Heap values={dump.heap} />
        <Counts title="Active resources" values={dump.active_resources} />
        <Facts title="Tracker" values={dump.tracker} />
        <Versions versions={dump.versions} modules={dump.modules} />
      </div>
      <Breadcrumbs crumbs={dump.breadcrumbs} visit={visit} />
      <Environment values={dump.environment} />
    </>
  ),
})

type Values = Readonly<Record<string, unknown>>

function record(values: unknown): Values {
  return typeof values === 'object' && values !== null ? (values as Values) : {}
}

function Part({ title, values, children }: { title: string; values: unknown; children?: Rendered }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      {values === null ? <p class="muted">This part could not be had, or found no room.</p> : children}
    </section>
  )
}

function Facts({ title, values }: { title: string; values: unknown }) {
  return (
    <Part title={title} values={values}>
      <FactList values={record(values)} />
    </Part>
  )
}

const asIs = (name: string) => name

function FactList({ values, labels = readable }: { values: Values; labels?: (name: string) => string }) {
  return (
    <dl class="facts">
      {Object.entries(values).map(([name, value]) => (
        <>
          <dt>{labels(name)}</dt>
          <dd>{shown(name, value)}</dd>
        </>
      ))}
    </dl>
  )
}

/** Without the unit, which stands with the number. */
function readable(name: string): string {
  return words(name.replace(/_(?:bytes|ms|s)$/, ''))
}

/** The end of a name says what its number measures. */
function shown(name: string, value: unknown): Rendered {
  if (value === null || value === '') return '–'
  if (Array.isArray(value))
    return value.length === 0 ? '–' : value.map((item) => <span class="item">{String(item)} </span>)
  if (typeof value === 'object') {
    const parts = Object.entries(value).map(
      ([key, one]) => `${readable(key)} ${typeof one === 'object' ? JSON.stringify(one) : shown(key, one)}`,
    )
    return parts.length === 0 ? '–' : parts.join(', ')
  }
  if (typeof value !== 'number') return String(value)
  if (name.endsWith('bytes')) return formatBytes(value)
  if (name.endsWith('_ms')) return formatMilliseconds(value)
  if (name.endsWith('_s')) return formatSeconds(value)
  if (name.startsWith('utilisation')) return formatShare(value)
  return /pid$/.test(name) ? String(value) : formatCount(value)
}

function Heap({ values }: { values: unknown }) {
  const { spaces, ...facts } = record(values)
  const rows = (Array.isArray(spaces) ? spaces : []).map(record).filter(({ size_bytes }) => size_bytes !== 0)
  return (
    <Part title="Heap" values={values}>
      <FactList values={facts} />
      <table class="heap-spaces">
        <caption class="hidden">Heap spaces</caption>
        <thead>
          <tr>
            <th scope="col">Space</th>
            <th scope="col" class="number">
              Used
            </th>
            <th scope="col" class="number">
              Size
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, used_bytes, size_bytes }) => (
            <tr>
              <th scope="row">{words(String(name))}</th>
              <td class="number">{formatBytes(Number(used_bytes))}</td>
              <td class="number">{formatBytes(Number(size_bytes))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Part>
  )
}

/** What the runtime is built of is long, and seldom asked for. */
const FOREMOST = ['app_version', 'git_sha', 'environment', 'platform', 'architecture', 'node', 'v8', 'uv', 'openssl']

function Versions({ versions, modules }: { versions: unknown; modules: unknown }) {
  const entries = Object.entries(record(versions))
  const foremost = entries.filter(([name]) => FOREMOST.includes(name))
  const others = entries.filter(([name]) => !FOREMOST.includes(name))
  return (
    <Part title="Versions" values={versions}>
      <FactList values={{ ...Object.fromEntries(foremost), ...record(modules) }} />
      {others.length > 0 && (
        <details class="hidden-names">
          <summary>{`${others.length} more`}</summary>
          <FactList values={Object.fromEntries(others)} />
        </details>
      )}
    </Part>
  )
}

function Counts({ title, values }: { title: string; values: unknown }) {
  const rows = Object.entries(record(values)).map(([label, value]) => ({ label, value: Number(value) }))
  return (
    <Part title={title} values={values}>
      {rows.length === 0 ? <p class="muted">None.</p> : <ShareBars title={title} rows={rows} />}
    </Part>
  )
}

function Breadcrumbs({ crumbs, visit }: { crumbs: unknown; visit: Visit }) {
  if (!Array.isArray(crumbs) || crumbs.length === 0) return null
  return (
    <section class="card">
      <h2>Breadcrumbs</h2>
      <ol class="dump-crumbs">
        {crumbs.map(record).map(({ occurred_at, category, message }) => (
          <li>
            <time datetime={String(occurred_at)}>{timeOfDay(String(occurred_at), visit.time_zone)}</time>
            <span class="badge">{String(category)}</span>
            <span>{String(message)}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}

function isHidden(value: unknown): boolean {
  return value === HIDDEN || value === FILTERED
}

function Environment({ values }: { values: unknown }) {
  const entries = Object.entries(record(values))
  const names = entries.filter(([, value]) => isHidden(value)).map(([name]) => name)
  return (
    <Part title="Environment" values={values}>
      <FactList values={Object.fromEntries(entries.filter(([, value]) => !isHidden(value)))} labels={asIs} />
      {names.length > 0 && (
        <details class="hidden-names">
          <summary>{`${names.length} more are set; their values are not kept`}</summary>
          <p>
            {names.map((name) => (
              <>
                <code>{name}</code>{' '}
              </>
            ))}
          </p>
        </details>
      )}
    </Part>
  )
}
