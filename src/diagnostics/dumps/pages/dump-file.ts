import { defineDownload } from '../../../dashboard/define.js'
import { downloadDumpFile } from '../download-file.js'
import { streamFile } from '../dump-files.js'

/** A CPU profile or heap snapshot, sent while it is read. */
export const dumpFile = defineDownload({
  path: '/errors/diagnostic_dumps/:dump_id{[0-9]+}/files/:kind',
  text: 'Download a file of a diagnostic dump',
  parameters: downloadDumpFile.input,
  async load(context, parameters) {
    const { name, bytes, path } = await downloadDumpFile.run(context, parameters)
    return { name, bytes, body: streamFile(path) }
  },
})
