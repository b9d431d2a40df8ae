import { locationText } from '../../../model/stacks/backtrace.js'
import { type FrameVariables, TYPE_KEY } from '../../../model/stacks/frame-variables.js'
import type { Rendered } from '../../define.js'
import { Explanation } from '../explanation.js'
import { ValueTree } from './value-tree.js'

/** Variables of one frame. */
export function FrameVariableList({ variables, open }: { variables: FrameVariables; open: boolean }): Rendered {
  const count = Object.keys(variables.variables).length
  return (
    <details class="variables" open={open}>
      <summary>
        Variables <span class="muted">{String(count)}</span>
      </summary>
      <VariableValues of={variables} />
    </details>
  )
}

/** Variables of frames outside the recorded stack. */
export function VariablesPanel({ frames }: { frames: readonly FrameVariables[] }): Rendered {
  if (frames.length === 0) return null
  return (
    <section class="panel" aria-labelledby="variables-title">
      <div class="panel-head">
        <h2 id="variables-title">Variables</h2>
      </div>
      {frames.map((frame) => (
        <>
          <h3 class="variables-place">
            <code>{frameLocation(frame)}</code>
          </h3>
          <VariableValues of={frame} />
        </>
      ))}
    </section>
  )
}

/** Reason why an occurrence has no variables although `enable_local_variables` is on. */
export function MissingVariables({ mode }: { mode: 'always' | 'adaptive' }): Rendered {
  return <Explanation label="No variables captured for this occurrence">{MISSING_REASONS[mode]}</Explanation>
}

const MISSING_REASONS: Record<'always' | 'adaptive', string> = {
  always:
    'The error was not thrown by in-app code, was thrown by optimized code or another process, occurred before the option was enabled, or exceeded the rate limit.',
  adaptive:
    'With local_variable_mode adaptive, the first occurrence has no variables. The next occurrence within a minute has them.',
}

function VariableValues({ of }: { of: FrameVariables }): Rendered {
  const { variables, instance_variables } = of
  const type = instance_variables?.[TYPE_KEY]
  return (
    <div class="variable-values" dir="ltr">
      {Object.keys(variables).length === 0 ? <p class="muted">No variables</p> : <ValueTree value={variables} closed />}
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

function frameLocation({ function: function_name, file, line_number }: FrameVariables): string {
  return (
    locationText({ line: '', function_name, file, line_number, column: null, in_app: true }) || '(unknown location)'
  )
}
