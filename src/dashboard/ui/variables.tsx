import type { Options } from '../../config/options.js'
import { locationText } from '../../model/stacks/backtrace.js'
import { type FrameVariables, TYPE_KEY } from '../../model/stacks/frame-variables.js'
import type { Rendered } from '../define.js'
import { How } from './explanation.js'
import { ValueTree } from './value-tree.js'

/** What the variables of one frame were, below its source. */
export function VariablesOfFrame({ variables, open }: { variables: FrameVariables; open: boolean }): Rendered {
  const count = Object.keys(variables.variables).length
  return (
    <details class="variables" open={open}>
      <summary>
        Variables <span class="muted">{String(count)}</span>
      </summary>
      <Values of={variables} />
    </details>
  )
}

/** Variables whose frame is not in the stack that was recorded, or why there are none at all. */
export function VariablesPanel({
  others,
  are_shown,
  is_foreign,
  is_enabled,
  mode,
}: {
  others: readonly FrameVariables[]
  /** Whether some stand in the stack. */
  are_shown: boolean
  /** Whether it was thrown elsewhere, where nobody could have read any. */
  is_foreign: boolean
  /** Whether variables are read at all. */
  is_enabled: boolean
  mode: Options['local_variable_mode']
}): Rendered {
  if (others.length === 0 && (are_shown || is_foreign || !is_enabled)) return null
  return (
    <section class="panel" aria-labelledby="variables-title">
      <div class="panel-head">
        <h2 id="variables-title">Variables</h2>
      </div>
      {others.length === 0 && (
        <>
          <p class="muted">None were read for this occurrence.</p>
          <How label="Why">{WHY_NONE[mode]}</How>
        </>
      )}
      {others.map((one) => (
        <>
          <h3 class="variables-place">
            <code>{placeOf(one)}</code>
          </h3>
          <Values of={one} />
        </>
      ))}
    </section>
  )
}

const WHY_NONE: Record<Options['local_variable_mode'], string> = {
  always:
    'It was not thrown in your own code (handed to a callback, rejected by Node.js itself), by code that V8 had optimised, came from another process or before the switch, or more was thrown that second than the limits allow.',
  adaptive:
    'With local_variable_mode adaptive, the first occurrence has no variables. The next occurrence within a minute has them.',
}

function Values({ of }: { of: FrameVariables }): Rendered {
  const { variables, instance_variables } = of
  const type = instance_variables?.[TYPE_KEY]
  return (
    <div class="variable-values" dir="ltr">
      {Object.keys(variables).length === 0 ? <p class="muted">It has none.</p> : <ValueTree value={variables} closed />}
      {instance_variables && (
        <>
          <p class="variables-of-this">
            <code>this</code> {typeof type === 'string' && <span class="muted">{type}</span>}
          </p>
          <ValueTree value={withoutType(instance_variables)} closed />
        </>
      )}
    </div>
  )
}

function withoutType({ [TYPE_KEY]: _type, ...values }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return values
}

function placeOf({ function: function_name, file, line_number }: FrameVariables): string {
  return locationText({ line: '', function_name, file, line_number, column: null, in_app: true }) || '(unknown place)'
}
