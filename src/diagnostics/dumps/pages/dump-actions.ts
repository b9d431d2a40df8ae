import * as v from 'valibot'
import { type Action, defineAction } from '../../../dashboard/define.js'
import { pathWith } from '../../../dashboard/href.js'
import { id, optional } from '../../../model/input.js'
import { captureDiagnosticDump, deleteDiagnosticDump } from '../capture-dump.js'

const LIST = '/errors/diagnostic_dumps'
const { actor: _, ...captured } = captureDiagnosticDump.input.entries

/** Takes a snapshot of the process that answers. */
const captureDump = defineAction({
  path: LIST,
  text: 'Capture a diagnostic dump',
  parameters: v.object({ ...captured, application_id: optional(id()) }),
  async run(context, { application_id, ...wanted }, actor) {
    const dump = await captureDiagnosticDump.run(context, { ...wanted, actor })
    return {
      to: pathWith(LIST, { application_id }),
      notice: `Diagnostic dump ${dump.id} was captured.`,
      created: `${LIST}/${dump.id}`,
    }
  },
})

/** Deletes a dump with its files. */
const deleteDump = defineAction({
  path: `${LIST}/:dump_id{[0-9]+}/delete`,
  text: 'Delete a diagnostic dump with its files',
  parameters: deleteDiagnosticDump.input,
  async run(context, { dump_id, application_id }) {
    await deleteDiagnosticDump.run(context, { dump_id, application_id })
    return { to: pathWith(LIST, { application_id }), notice: `Diagnostic dump ${dump_id} was deleted.` }
  },
})

export const dumpActions: readonly Action[] = [captureDump, deleteDump]
