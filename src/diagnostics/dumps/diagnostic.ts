import { lazyOperations } from '../../operation.js'
import { defineDiagnostic } from '../define.js'
import { loadLater } from '../load-later.js'
import { dumpOptions } from './options.js'
import { poolApi } from './pools.js'

const captured = lazyOperations(() => import('./capture-dump.js'))
const stored = lazyOperations(() => import('./diagnostic-dump.js'))

/** Captures snapshots of the process: memory, event loop, handles, CPU profile, heap. */
export const dumps = defineDiagnostic({
  name: 'diagnostic_dumps',
  options: dumpOptions,
  needs: ['enable_diagnostic_dump'],
  collect: (setup) =>
    loadLater(setup, 'Garbage collection', async () => (await import('./collector.js')).collectForDumps()),
  api: poolApi,
  commands: {
    CaptureDiagnosticDump: captured('captureDiagnosticDump'),
    DeleteDiagnosticDump: captured('deleteDiagnosticDump'),
  },
  queries: { DiagnosticDumps: stored('diagnosticDumps'), FindDiagnosticDump: stored('findDiagnosticDump') },
  page: () => import('./pages/pages.js'),
})
