import { hostname } from 'node:os'
import * as v from 'valibot'
import { defineDownload } from '../../../dashboard/define.js'
import { TrackerError } from '../../../model/errors.js'
import { choice, id } from '../../../model/input/input.js'
import { scopeInput } from '../../../model/input/scope.js'
import { defineOperation } from '../../../operation.js'
import { findDiagnosticDump } from '../diagnostic-dump.js'
import { FILE_KINDS, findFile, streamFile } from '../dump-files.js'

/** Finds a file of a dump. The dump determines the file name, never the request. */
const findDumpFile = defineOperation({
  input: v.object({ dump_id: id(), kind: choice(FILE_KINDS), ...scopeInput }),
  async run(context, { kind, ...input }) {
    const { dump_id } = input
    const dump = await findDiagnosticDump.run(context, input)
    const file = dump.files.find((candidate) => candidate.kind === kind)
    if (!file) throw new TrackerError('not_found', `Diagnostic dump ${dump_id} has no ${kind.replace('_', ' ')}.`)
    const found = await findFile(context, file)
    if (found) return { name: file.name, ...found }
    throw new TrackerError(
      'not_found',
      file.hostname === hostname()
        ? 'The file was deleted. Only the newest files are kept.'
        : `The file is on ${file.hostname}, but ${hostname()} handled this request. Open the dashboard of a process on ${file.hostname}.`,
    )
  },
})

/** Streams a CPU profile or heap snapshot. */
export const dumpFile = defineDownload({
  path: '/errors/diagnostic_dumps/:dump_id{[0-9]+}/files/:kind',
  text: 'Download a file of a diagnostic dump',
  role: 'admin',
  parameters: findDumpFile.input,
  async load(context, parameters) {
    const { name, bytes, path } = await findDumpFile.run(context, parameters)
    return { name, bytes, body: streamFile(path) }
  },
})
