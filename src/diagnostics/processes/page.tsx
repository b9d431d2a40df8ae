import { cachedReleaseTimes } from '../../analytics/releases/release-markers.js'
import { definePage, type Rendered, type Visit } from '../../dashboard/define.js'
import { currentPageWith } from '../../dashboard/links/href.js'
import { Empty } from '../../dashboard/ui/empty.js'
import { ICONS } from '../../dashboard/ui/icons.js'
import { PageHead } from '../../dashboard/ui/layout/page-head.js'
import { Tabs } from '../../dashboard/ui/layout/tabs.js'
import { ExactTime, Time } from '../../dashboard/ui/time.js'
import { formatBytes, formatMilliseconds, formatPercent, formatSeconds } from '../../dashboard/ui/units.js'
import { unusualValues } from '../../model/system-health.js'
import { ProcessCharts } from './process-charts.js'
import {
  type HealthPoint,
  type ListedProcess,
  ProcessHealthPage,
  processHealth,
  RANGE_NAMES,
} from './process-health.js'

const RANGE_LABELS = { '1h': '1 h', '24h': '24 h', '7d': '7 d' } as const

export const processHealthPage = definePage({
  path: '/process_health',
  text: 'Processes with memory, event loop, CPU, garbage collection and errors over time',
  role: 'viewer',
  parameters: processHealth.input,
  load: (context, parameters): Promise<ProcessHealthPage> => processHealth.run(context, parameters),
  loadForHtml: async (context, { process }) => ({
    releases: process
      ? await cachedReleaseTimes(context, { application_id: process.application_id, environment: process.environment })
      : [],
  }),
  response: ProcessHealthPage,
  title: () => 'Processes',
  json: (data) => data,
  view: ({ range, processes, process, points, step_minutes, releases }, visit) => (
    <>
      <PageHead title="Processes" context="Per-process metrics, sampled every minute, kept for 7 days.">
        {process && (
          <div class="chart-range">
            <Tabs
              label="Range"
              tabs={RANGE_NAMES.map((name) => ({
                label: RANGE_LABELS[name],
                href: currentPageWith(visit, { range: name, from: null, to: null }),
                current: name === range,
              }))}
            />
            {range === null && <a href={currentPageWith(visit, { from: null, to: null })}>Reset zoom</a>}
          </div>
        )}
      </PageHead>
      {process === null ? (
        <Empty title="No processes yet" code="Tracker.configure({ enable_process_health: true })">
          Processes with this option appear here within seconds of their start, with charts of memory, event loop, CPU,
          garbage collection and recorded errors:
        </Empty>
      ) : (
        <div class="stack">
          <Processes processes={processes} current={process.id} visit={visit} />
          <section class="card">
            <h2 class="process-charts-title">{`${process.hostname}, process ${process.pid}`}</h2>
            <ProcessSummary process={process} visit={visit} />
            <ProcessCharts
              points={pointsSinceStart(points, process)}
              stepMinutes={step_minutes}
              releases={releases}
              visit={visit}
            />
          </section>
        </div>
      )}
    </>
  ),
})

export const pages = [processHealthPage]
export const navigation = {
  label: 'Processes',
  preview: {
    benefit:
      'See memory, event loop delay, CPU and garbage collection of every process, next to the errors of the same minute.',
    sample: {
      columns: ['Process', 'Uptime', 'Memory', 'Heap', 'Loop delay p99', 'CPU'],
      rows: [
        ['web-1 · 4211', '3 d 4 h', '212 MB', '96 MB, 5%', '21 ms', '14%'],
        ['web-2 · 4198', '3 d 4 h', '1.6 GB', '1.4 GB, 82%', '480 ms', '97%'],
        ['worker-1 · 388', '11 h 2 min', '148 MB', '61 MB, 3%', '18 ms', '6%'],
      ],
    },
  },
  icon: ICONS.runtime,
}

/** The axis of a new process has at least this many points. */
const MIN_POINTS = 15

/** Omits the points before the start of the process, which would be empty. */
function pointsSinceStart(points: readonly HealthPoint[], { started_at }: ListedProcess): readonly HealthPoint[] {
  const first = points.findLastIndex(({ at }) => at <= started_at)
  return points.slice(Math.max(0, Math.min(first, points.length - MIN_POINTS)))
}

function ProcessSummary({ process, visit }: { process: ListedProcess; visit: Visit }): Rendered {
  const { started_at, node_version, app_version, application_name, environment } = process
  return (
    <p class="muted meta">
      {`${application_name} · ${environment} · started `}
      <ExactTime iso={started_at} visit={visit} />
      {` · Node.js ${node_version}`}
      {app_version && ` · version ${app_version}`}
    </p>
  )
}

function Processes({
  processes,
  current,
  visit,
}: {
  processes: readonly ListedProcess[]
  current: number
  visit: Visit
}): Rendered {
  const showsApplication = visit.application_id === null && visit.applications.length > 1
  const showsEnvironment = visit.environment === null && visit.environments.length > 1
  return (
    <section class="scroll process-list" tabindex={0} aria-label="Processes">
      <table>
        <thead>
          <tr>
            <th scope="col">Process</th>
            {showsApplication && <th scope="col">Application</th>}
            {showsEnvironment && <th scope="col">Environment</th>}
            <th scope="col">Uptime</th>
            <th scope="col">Last seen</th>
            {['Memory', 'Heap', 'Loop delay p99', 'CPU'].map((title) => (
              <th scope="col" class="number">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {processes.map((process) => (
            <tr class={process.id === current ? 'selected' : undefined}>
              <th scope="row">
                <a
                  href={currentPageWith(visit, { process_id: process.id })}
                  aria-current={process.id === current ? 'true' : undefined}
                >
                  {`${process.hostname} · ${process.pid}`}
                </a>
              </th>
              {showsApplication && <td data-name="Application">{process.application_name}</td>}
              {showsEnvironment && <td data-name="Environment">{process.environment}</td>}
              <td data-name="Uptime">
                {formatSeconds(
                  ((process.alive ? visit.now : Date.parse(process.last_seen_at)) - Date.parse(process.started_at)) /
                    1000,
                )}
              </td>
              <td data-name="Last seen">
                {process.alive ? (
                  <span class="badge process-alive">running</span>
                ) : (
                  <Time iso={process.last_seen_at} visit={visit} />
                )}
              </td>
              <td class="number" data-name="Memory">
                {process.rss_bytes === null ? '–' : formatBytes(process.rss_bytes)}
              </td>
              <WarningCell name="Heap" warning={warnings(process).heap_used_bytes}>
                {heapShare(process)}
              </WarningCell>
              <WarningCell name="Loop delay p99" warning={warnings(process).delay_p99_ms}>
                {process.delay_p99_ms === null ? '–' : formatMilliseconds(process.delay_p99_ms)}
              </WarningCell>
              <td class="number" data-name="CPU">
                {process.cpu === null ? '–' : formatPercent(process.cpu)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** Returns warnings by column, with the same rules as for the process of an error. */
function warnings({ heap_used_bytes, heap_limit_bytes, delay_p99_ms }: ListedProcess): Record<string, string> {
  if (heap_used_bytes === null || heap_limit_bytes === null) return {}
  return unusualValues({ heap_used_bytes, heap_limit_bytes, delay_p99_ms })
}

function WarningCell({ name, warning, children }: { name: string; warning: string | undefined; children?: Rendered }) {
  return (
    <td class={warning ? 'number unusual' : 'number'} data-name={name} title={warning}>
      <span>
        {warning && <span aria-hidden="true">▲ </span>}
        {children}
        {warning && <span class="hidden">{`. ${warning}`}</span>}
      </span>
    </td>
  )
}

function heapShare({ heap_used_bytes, heap_limit_bytes }: ListedProcess): string {
  if (heap_used_bytes === null || !heap_limit_bytes) return '–'
  return `${formatBytes(heap_used_bytes)}, ${formatPercent(heap_used_bytes / heap_limit_bytes)}`
}
