import type { FrameVariables } from '../../../../model/stacks/frame-variables.js'
import type { ErrorRecord } from '../../../../triage/queries/error-record.js'
import type { Rendered } from '../../../define.js'
import { ValueTree } from '../../../ui/values/value-tree.js'
import { VariablesPanel } from '../../../ui/values/variables.js'
import { fromEntries, isEmpty, isObject, Values } from './facts.js'

/** Variables outside the shown frames, and the context of an occurrence. */
export function OccurrenceData({
  record,
  others,
}: {
  record: ErrorRecord
  others: readonly FrameVariables[]
}): Rendered {
  const { local_variables, variables } = record.details
  return (
    <>
      {Array.isArray(local_variables ?? []) && isEmpty(variables) ? (
        <VariablesPanel frames={others} />
      ) : (
        <DataPanel title="Variables" values={local_variables ?? variables} tree />
      )}
      <DataPanel title="Context" values={withoutUserAgent(record.context, record.user_agent)} />
    </>
  )
}

/** Removes the user agent from the device context, because the request section already shows it. */
function withoutUserAgent(context: unknown, user_agent: string | null): unknown {
  if (!isObject(context) || !('device' in context) || !isObject(context.device) || !user_agent) return context
  const { device, ...others } = context
  const remaining = Object.entries(device as object).filter(([, value]) => value !== user_agent)
  return remaining.length > 0 ? { ...others, device: fromEntries(remaining) } : others
}

function DataPanel({ title, values, tree = false }: { title: string; values: unknown; tree?: boolean }) {
  if (isEmpty(values)) return null
  const id = `${title.toLowerCase()}-title`
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>{title}</h2>
      </div>
      {tree ? <ValueTree value={values} /> : <Values values={values} />}
    </section>
  )
}
