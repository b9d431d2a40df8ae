import { boolean } from '../../config/kinds.js'
import { row } from '../../config/options.js'

export const processOptions = {
  enable_system_health: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Records the state of the process with each error: memory, event loop, garbage collection, handles, load.',
  }),
  enable_process_health: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Writes one row per minute with the health of each process, kept for 7 days and shown as charts.',
  }),
}
