import * as v from 'valibot'
import { captureDiagnosticDump } from '../../diagnostics/diagnostic-dump.js'
import { id, optional } from '../../model/input.js'
import { perform } from '../../operation.js'
import { defineAction } from '../define.js'
import { pathWith } from '../href.js'

const { note } = captureDiagnosticDump.input.entries

/** Takes a snapshot of the process that answers. */
export const captureDump = defineAction({
  path: '/errors/diagnostic_dumps',
  text: 'Capture a diagnostic dump',
  needs: 'enable_diagnostic_dump',
  parameters: v.object({ note, application_id: optional(id()) }),
  async run(context, { note, application_id }, actor) {
    const dump = await perform(captureDiagnosticDump, context, { note, actor })
    return {
      to: pathWith('/errors/diagnostic_dumps', { application_id }),
      notice: `Diagnostic dump ${dump.id} was captured.`,
    }
  },
})
