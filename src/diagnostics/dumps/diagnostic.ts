import { defineDiagnostic } from '../define.js'
import { loadLater } from '../load-later.js'

/** Snapshots of the process: memory, event loop, handles, CPU profile, heap. */
export const dumps = defineDiagnostic({
  name: 'diagnostic_dumps',
  needs: ['enable_diagnostic_dump'],
  collect: (setup) =>
    loadLater(setup, 'Garbage collection', async () => (await import('./collector.js')).collectForDumps()),
})
