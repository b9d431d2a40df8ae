import { definePage, type Rendered, type Visit } from '../../../dashboard/define.js'
import { href } from '../../../dashboard/links/href.js'
import { formatIdentifier } from '../../../dashboard/ui/badges.js'
import { Empty } from '../../../dashboard/ui/empty.js'
import { PageHead } from '../../../dashboard/ui/layout/page-head.js'
import { Pagination, paginationLinks } from '../../../dashboard/ui/pagination.js'
import { Time } from '../../../dashboard/ui/time.js'
import { formatBytes, formatMilliseconds, formatSeconds } from '../../../dashboard/ui/units.js'
import { type DumpSummary, DumpsPage, diagnosticDumps } from '../diagnostic-dump.js'
import { CaptureDumpForm } from './capture-dump-form.js'

export const diagnosticDumpsPage = definePage({
  path: '/errors/diagnostic_dumps',
  text: 'List of diagnostic dumps',
  role: 'admin',
  parameters: diagnosticDumps.input,
  load: (context, parameters): Promise<DumpsPage> => diagnosticDumps.run(context, parameters),
  response: DumpsPage,
  title: () => 'Dumps',
  json: (data) => data,
  links: ({ pagination }, visit) => paginationLinks(pagination, visit),
  view: ({ dumps, pagination }, visit) => (
    <>
      <PageHead title="Dumps" context="Snapshots of a process: memory, event loop, handles and tracker state.">
        <CaptureDumpForm visit={visit} />
      </PageHead>
      {dumps.length === 0 ? (
        <Empty
          title="No dumps yet"
          code="await Tracker.Commands.CaptureDiagnosticDump.call({ note: 'before the deploy' })"
        >
          A dump contains the state of this process: memory and heap spaces, event loop delay, active resources,
          versions, names of environment variables and the tracker state. Capture one with the button above, or from
          code:
        </Empty>
      ) : (
        <ol>
          {dumps.map((dump) => (
            <Dump dump={dump} visit={visit} />
          ))}
        </ol>
      )}
      <Pagination pagination={pagination} visit={visit} />
    </>
  ),
})

function Dump({ dump, visit }: { dump: DumpSummary; visit: Visit }) {
  const origin = [
    dump.hostname,
    dump.pid === null ? null : `process ${dump.pid}`,
    dump.uptime_s === null ? null : `up ${formatSeconds(dump.uptime_s)}`,
    visit.application_id === null && visit.applications.length > 1 ? dump.application_name : null,
    visit.environment === null && visit.environments.length > 1 ? dump.environment : null,
    dump.captured_by === null ? null : `by ${dump.captured_by}`,
    ...dump.files.map(({ kind, size_bytes }) => `${formatIdentifier(kind)} ${formatBytes(size_bytes)}`),
  ]
  return (
    <li class="record">
      <div class="record-main">
        <p>
          <a class="record-title" href={href(visit, `/errors/diagnostic_dumps/${dump.id}`)}>
            {dump.note ?? `Dump ${dump.id}`}
          </a>
        </p>
        <p class="muted meta">
          <Time iso={dump.created_at} visit={visit} />
          {origin.filter((part) => part !== null).map((part) => ` · ${part}`)}
        </p>
      </div>
      <dl class="record-figures">
        <Figure label="Memory" value={dump.rss_bytes} format={formatBytes} />
        <Figure label="Heap used" value={dump.heap_used_bytes} format={formatBytes} />
        <Figure label="Loop delay p99" value={dump.delay_p99_ms} format={formatMilliseconds} />
      </dl>
    </li>
  )
}

function Figure({
  label,
  value,
  format,
}: {
  label: string
  value: number | null
  format: (value: number) => string
}): Rendered {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value === null ? '–' : format(value)}</dd>
    </div>
  )
}
