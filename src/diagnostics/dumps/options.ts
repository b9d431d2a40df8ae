import { boolean, orNull, path } from '../../config/kinds.js'
import { row } from '../../config/options.js'

export const dumpOptions = {
  enable_diagnostic_dump: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Allows diagnostic dumps of the process to be captured and stored.',
  }),
  enable_heap_snapshots: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Allows heap snapshots in a dump. A snapshot contains every secret of the process in clear text, and the process pauses while it is written: one to two seconds for 30 MB.',
  }),
  diagnostic_dump_path: row<string | null>({
    group: 'diagnostics',
    kind: orNull(path),
    default: null,
    text: 'Folder for the CPU profiles and heap snapshots of dumps, relative to project_root. Default: next to the spool folder.',
  }),
}
