import * as v from 'valibot'
import { definePage, type Rendered, type Visit } from '../../../dashboard/define.js'
import { href } from '../../../dashboard/links/href.js'
import { ActionForm } from '../../../dashboard/ui/forms.js'
import { PageHead } from '../../../dashboard/ui/layout/page-head.js'
import { Menu } from '../../../dashboard/ui/menu.js'
import { ExactTime, Time } from '../../../dashboard/ui/time.js'
import { formatBytes } from '../../../dashboard/ui/units.js'
import * as r from '../../../model/result.js'
import { type DiagnosticDump, DumpSummary, findDiagnosticDump } from '../diagnostic-dump.js'
import { Counts, Facts } from './dump-facts.js'
import {
  Breadcrumbs,
  Container,
  Descriptors,
  EnvironmentVariables,
  Gc,
  Heap,
  Pools,
  Report,
  Versions,
} from './dump-parts.js'

export const diagnosticDumpPage = definePage({
  path: '/errors/diagnostic_dumps/:dump_id{[0-9]+}',
  text: 'Details of one diagnostic dump',
  role: 'admin',
  parameters: v.object(findDiagnosticDump.input.entries),
  load: (context, parameters): Promise<DiagnosticDump> => findDiagnosticDump.run(context, parameters),
  // The sections differ between versions of Node.js.
  response: r.object({ dump: v.looseObject(DumpSummary.entries) }),
  title: ({ id }) => `Diagnostic dump ${id}`,
  json: (dump) => ({ dump: { ...dump } }),
  view: (dump, visit) => (
    <>
      <PageHead
        title={`Diagnostic dump ${dump.id}`}
        context={
          <>
            <Time iso={dump.created_at} visit={visit} />
            {' · '}
            <ExactTime iso={dump.created_at} visit={visit} />
            {` · ${dump.application_name} · ${dump.environment}`}
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
        <Menu label="Delete">
          <ActionForm visit={visit} to={`/errors/diagnostic_dumps/${dump.id}/delete`} submit="Delete dump">
            <p>Deletes the dump permanently, with its files on this machine.</p>
          </ActionForm>
        </Menu>
      </PageHead>
      {dump.note && <p class="dump-note">{dump.note}</p>}
      <Files dump={dump} visit={visit} />
      <div class="dump-parts">
        <Facts title="Process" values={dump.process} />
        <Facts title="Memory" values={dump.memory} />
        <Facts title="Event loop" values={dump.event_loop} />
        <Facts title="CPU" values={dump.cpu} />
        <Heap values={dump.heap} />
        <Gc values={dump.gc} />
        <Counts title="Active resources" values={dump.active_resources} />
        <Descriptors values={dump.descriptors} />
        <Container values={dump.container} />
        <Pools values={dump.pools} />
        <Facts title="Jobs" values={dump.jobs} missing="The job engine did not respond." />
        <Facts title="Tracker" values={dump.tracker} />
        <Versions versions={dump.versions} modules={dump.modules} />
      </div>
      <Report values={dump.report} />
      <Breadcrumbs crumbs={dump.breadcrumbs} visit={visit} />
      <EnvironmentVariables values={dump.environment_variables} />
    </>
  ),
})

const FILE_TEXTS = {
  cpu_profile: { title: 'CPU profile', text: 'Opens in the Performance panel of Chrome DevTools and in most editors.' },
  heap_snapshot: {
    title: 'Heap snapshot',
    text: 'Opens in the Memory panel of Chrome DevTools. Contains every secret of the process; store it accordingly.',
  },
} as const

function Files({ dump: { id, files }, visit }: { dump: DiagnosticDump; visit: Visit }): Rendered {
  if (files.length === 0) return null
  return (
    <ul class="dump-files">
      {files.map(({ kind, size_bytes, hostname }) => (
        <li>
          <a class="button" href={href(visit, `/errors/diagnostic_dumps/${id}/files/${kind}`)} download>
            {`${FILE_TEXTS[kind].title}, ${formatBytes(size_bytes)}`}
          </a>
          <span class="muted meta">{`${FILE_TEXTS[kind].text} Stored on ${hostname}.`}</span>
        </li>
      ))}
    </ul>
  )
}
