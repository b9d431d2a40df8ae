import { definePage, type Rendered, type Visit } from '../../dashboard/define.js'
import { currentPageWith } from '../../dashboard/href.js'
import { Empty } from '../../dashboard/ui/empty.js'
import { PageHead } from '../../dashboard/ui/page-head.js'
import { Tabs } from '../../dashboard/ui/tabs.js'
import { exactTime, Time } from '../../dashboard/ui/time.js'
import { formatBytes, formatMilliseconds, formatPercent, formatSeconds } from '../../dashboard/ui/units.js'
import { unusualValues } from '../../model/system-health.js'
import { ProcessCharts } from './process-charts.js'
import { type ListedProcess, type ProcessHealthPage, processHealth, RANGE_NAMES } from './process-health.js'
import { processHealthResponse } from './response.js'

const LABELS = { '1h': 'Last hour', '24h': '24 hours', '7d': '7 days' } as const

/** The processes that report here, and one of them over time. */
export const processHealthPage = definePage({
  path: '/process_health',
  text: 'The processes that report here: memory, event loop, CPU, garbage collection and errors over time',
  parameters: processHealth.input,
  load: (context, parameters): Promise<ProcessHealthPage> => processHealth.run(context, parameters),
  response: processHealthResponse,
  title: () => 'Processes',
  json: (data) => data,
  view: ({ range, processes, process, points, step_minutes }, visit) => (
    <>
      <PageHead title="Processes" context="Per-process metrics, sampled every minute, kept for 7 days.">
        {process && (
          <Tabs
            label="Range"
            tabs={RANGE_NAMES.map((one) => ({
              label: LABELS[one],
              href: currentPageWith(visit, { range: one }),
              current: one === range,
            }))}
          />
        )}
      </PageHead>
      {process === null ? (
        <Empty title="No process has reported yet" code="Tracker.configure({ enable_process_health: true })">
          Every process with this option appears here within seconds of its start, with charts of its memory, event
          loop, CPU and garbage collection above the errors it recorded.
        </Empty>
      ) : (
        <div class="stack">
          <Processes processes={processes} current={process.id} visit={visit} />
          <section class="card">
            <h2 class="process-charts-title">{`${process.hostname}, process ${process.pid}`}</h2>
            <p class="muted meta">{sentence(process, visit)}</p>
            <ProcessCharts points={points} range={range} step_minutes={step_minutes} time_zone={visit.time_zone} />
          </section>
        </div>
      )}
    </>
  ),
})

export const pages = [processHealthPage]
export const navigation = {
  label: 'Processes',
  icon: 'M4.5 4.5h7v7h-7ZM6.5 2v2.5M9.5 2v2.5M6.5 11.5V14M9.5 11.5V14M2 6.5h2.5M2 9.5h2.5M11.5 6.5H14M11.5 9.5H14',
}

function sentence({ started_at, node_version, app_version, application_name }: ListedProcess, visit: Visit): string {
  return [
    application_name,
    `up since ${exactTime(started_at, visit.time_zone)}`,
    `Node.js ${node_version}`,
    app_version ? `version ${app_version}` : null,
  ]
    .filter((part) => part !== null)
    .join(' · ')
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
  const shows_application = visit.application_id === null && visit.applications.length > 1
  return (
    <section class="scroll process-list" tabindex={0} aria-label="Processes">
      <table>
        <thead>
          <tr>
            <th scope="col">Process</th>
            {shows_application && <th scope="col">Application</th>}
            <th scope="col">Up</th>
            <th scope="col">Last seen</th>
            {['Memory', 'Heap', 'Loop delay p99', 'CPU'].map((title) => (
              <th scope="col" class="number">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {processes.map((one) => (
            <tr class={one.id === current ? 'selected' : undefined}>
              <th scope="row">
                <a
                  href={currentPageWith(visit, { process_id: one.id })}
                  aria-current={one.id === current ? 'true' : undefined}
                >
                  {`${one.hostname} · ${one.pid}`}
                </a>
              </th>
              {shows_application && <td data-name="Application">{one.application_name}</td>}
              <td data-name="Up">
                {formatSeconds(
                  ((one.alive ? visit.now : Date.parse(one.last_seen_at)) - Date.parse(one.started_at)) / 1000,
                )}
              </td>
              <td data-name="Last seen">
                {one.alive ? (
                  <span class="badge process-alive">alive</span>
                ) : (
                  <Time iso={one.last_seen_at} visit={visit} />
                )}
              </td>
              <td class="number" data-name="Memory">
                {one.rss_bytes === null ? '–' : formatBytes(one.rss_bytes)}
              </td>
              <Marked name="Heap" sign={signsOf(one).heap_used_bytes}>
                {heapShare(one)}
              </Marked>
              <Marked name="Loop delay p99" sign={signsOf(one).delay_p99_ms}>
                {one.delay_p99_ms === null ? '–' : formatMilliseconds(one.delay_p99_ms)}
              </Marked>
              <td class="number" data-name="CPU">
                {one.cpu === null ? '–' : formatPercent(one.cpu)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** What would be unusual at the moment of an error is so at any other. */
function signsOf({ heap_used_bytes, heap_limit_bytes, delay_p99_ms }: ListedProcess): Record<string, string> {
  if (heap_used_bytes === null || heap_limit_bytes === null) return {}
  return unusualValues({ heap_used_bytes, heap_limit_bytes, delay_p99_ms })
}

function Marked({ name, sign, children }: { name: string; sign: string | undefined; children?: Rendered }) {
  return (
    <td class={sign ? 'number unusual' : 'number'} data-name={name} title={sign}>
      <span>
        {sign && <span aria-hidden="true">▲ </span>}
        {children}
        {sign && <span class="hidden">{`. ${sign}`}</span>}
      </span>
    </td>
  )
}

function heapShare({ heap_used_bytes, heap_limit_bytes }: ListedProcess): string {
  if (heap_used_bytes === null || !heap_limit_bytes) return '–'
  return `${formatBytes(heap_used_bytes)}, ${formatPercent(heap_used_bytes / heap_limit_bytes)}`
}
