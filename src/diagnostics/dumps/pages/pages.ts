import { diagnosticDumpPage } from './diagnostic-dump.js'
import { diagnosticDumpsPage } from './diagnostic-dumps.js'
import { dumpActions } from './dump-actions.js'
import { dumpFile } from './dump-file.js'

export const pages = [diagnosticDumpsPage, diagnosticDumpPage]
export const downloads = [dumpFile]
export const actions = dumpActions
export const navigation = {
  label: 'Dumps',
  benefit:
    'Capture the state of a running process on demand: memory, heap, active handles, CPU profile and heap snapshot.',
  icon: 'M3 4c0-1.2 10-1.2 10 0v8c0 1.2-10 1.2-10 0ZM3 4c0 1.2 10 1.2 10 0M3 8c0 1.2 10 1.2 10 0',
}
