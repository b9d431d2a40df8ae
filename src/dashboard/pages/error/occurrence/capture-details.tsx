import type { Rendered } from '../../../define.js'
import { withLabels } from './detail-labels.js'
import { isEmpty, Values } from './facts.js'

/** How the occurrence was captured, and other facts about the thrown value. */
export function CaptureDetails({ details }: { details: Readonly<Record<string, unknown>> }): Rendered {
  // Other sections show these.
  const { local_variables, variables, frame_sources, trace_id, span_id, details_omitted, ...remaining } = details
  const { process, system_health, ...facts } = remaining
  if (isEmpty(facts)) return null
  return (
    <section class="panel" aria-labelledby="capture-title">
      <h3 id="capture-title">Capture</h3>
      <Values values={withLabels(facts)} />
    </section>
  )
}
