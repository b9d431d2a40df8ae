import * as v from 'valibot'
import { captureDiagnosticDump } from '../../diagnostics/diagnostic-dump.js'
import { perform } from '../../operation.js'
import { defineAction } from '../define.js'

const { note } = captureDiagnosticDump.input.entries

/** Takes a snapshot of the process that answers. */
export const captureDump = defineAction({
  path: '/errors/diagnostic_dumps',
  text: 'Capture a diagnostic dump',
  needs: 'enable_diagnostic_dump',
  parameters: v.object({ note }),
  async run(context, parameters, actor) {
    const { id } = await perform(captureDiagnosticDump, context, { ...parameters, actor })
    return { to: '/errors/diagnostic_dumps', notice: `Diagnostic dump ${id} was captured.` }
  },
})
