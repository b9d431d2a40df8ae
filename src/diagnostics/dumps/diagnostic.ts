import { defineDiagnostic } from '../define.js'
import { loadLater } from '../load-later.js'
import { captureDiagnosticDump, deleteDiagnosticDump } from './capture-dump.js'
import { diagnosticDumps, findDiagnosticDump } from './diagnostic-dump.js'
import { dumpOptions } from './options.js'

/** Captures snapshots of the process: memory, event loop, handles, CPU profile, heap. */
export const dumps = defineDiagnostic({
  name: 'diagnostic_dumps',
  options: dumpOptions,
  needs: ['enable_diagnostic_dump'],
  collect: (setup) =>
    loadLater(setup, 'Garbage collection', async () => (await import('./collector.js')).collectForDumps()),
  commands: { CaptureDiagnosticDump: captureDiagnosticDump, DeleteDiagnosticDump: deleteDiagnosticDump },
  queries: { DiagnosticDumps: diagnosticDumps, FindDiagnosticDump: findDiagnosticDump },
  page: () => import('./pages/pages.js'),
})
