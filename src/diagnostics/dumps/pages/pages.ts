import { diagnosticDumpPage } from './diagnostic-dump.js'
import { diagnosticDumpsPage } from './diagnostic-dumps.js'
import { dumpActions } from './dump-actions.js'
import { dumpFile } from './dump-file.js'

export const pages = [diagnosticDumpsPage, diagnosticDumpPage]
export const downloads = [dumpFile]
export const actions = dumpActions
export const navigation = {
  label: 'Dumps',
  preview: {
    benefit:
      'Capture the state of a running process on demand: memory, heap, active handles, CPU profile and heap snapshot.',
    sample: {
      columns: ['Dump', 'Process', 'Memory', 'Heap used', 'Loop delay p99', 'Files'],
      rows: [
        ['Memory keeps growing', 'web-2 · 4198', '1.6 GB', '1.4 GB', '480 ms', 'Heap snapshot 610 MB'],
        ['before the deploy', 'web-1 · 4211', '212 MB', '96 MB', '21 ms', 'CPU profile 2.1 MB'],
      ],
    },
  },
  icon: 'M3 4c0-1.2 10-1.2 10 0v8c0 1.2-10 1.2-10 0ZM3 4c0 1.2 10 1.2 10 0M3 8c0 1.2 10 1.2 10 0',
}
