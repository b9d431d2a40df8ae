import { hostname } from 'node:os'
import * as v from 'valibot'
import { TrackerError } from '../../model/errors.js'
import { choice, id, optional } from '../../model/input.js'
import { defineOperation } from '../../operation.js'
import { findDiagnosticDump } from './diagnostic-dump.js'
import { FILE_KINDS, findFile } from './dump-files.js'

/** Finds a file of a dump. Its name comes from the dump, never from whoever asks for it. */
export const downloadDumpFile = defineOperation({
  input: v.object({ dump_id: id(), kind: choice(FILE_KINDS), application_id: optional(id()) }),
  async run(context, { dump_id, kind, application_id }) {
    const dump = await findDiagnosticDump.run(context, { dump_id, application_id })
    const wanted = dump.files.find((file) => file.kind === kind)
    if (!wanted) throw new TrackerError('not_found', `Diagnostic dump ${dump_id} has no ${kind.replace('_', ' ')}.`)
    const found = await findFile(context, wanted)
    if (found) return { name: wanted.name, ...found }
    throw new TrackerError(
      'not_found',
      wanted.hostname === hostname()
        ? 'The file is no longer there: only the newest are kept.'
        : `The file lies on the machine ${wanted.hostname}, and ${hostname()} has answered. Open the dashboard of a process that runs there.`,
    )
  },
})
