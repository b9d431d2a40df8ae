import * as v from 'valibot'
import { type Action, defineAction } from '../../../dashboard/define.js'
import { pathWith } from '../../../dashboard/links/href.js'
import { scopeInput } from '../../../model/input/scope.js'
import * as r from '../../../model/result.js'
import { captureDiagnosticDump, deleteDiagnosticDump } from '../capture-dump.js'

const LIST_PATH = '/errors/diagnostic_dumps'
const { actor: _, ...captureInput } = captureDiagnosticDump.input.entries

const captureDump = defineAction({
  path: LIST_PATH,
  text: 'Capture a diagnostic dump',
  role: 'admin',
  parameters: v.object({ ...captureInput, ...scopeInput }),
  response: r.object({ id: r.integer, created_at: r.time }),
  async run(context, { application_id, environment, ...options }, actor) {
    const dump = await captureDiagnosticDump.run(context, { ...options, actor })
    return {
      json: () => dump,
      to: pathWith(LIST_PATH, { application_id, environment }),
      notice: `Captured diagnostic dump ${dump.id}`,
      created: `${LIST_PATH}/${dump.id}`,
    }
  },
})

const deleteDump = defineAction({
  path: `${LIST_PATH}/:dump_id{[0-9]+}/delete`,
  text: 'Delete a diagnostic dump with its files',
  role: 'admin',
  parameters: deleteDiagnosticDump.input,
  response: r.object({ deleted: r.integer }),
  async run(context, { dump_id, ...scope }) {
    const result = await deleteDiagnosticDump.run(context, { dump_id, ...scope })
    return { json: () => result, to: pathWith(LIST_PATH, scope), notice: `Deleted diagnostic dump ${dump_id}` }
  },
})

export const dumpActions: readonly Action[] = [captureDump, deleteDump]
