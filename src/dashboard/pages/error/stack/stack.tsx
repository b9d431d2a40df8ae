import { readOptions } from '../../../../config/options.js'
import { localVariableOptions } from '../../../../diagnostics/variables/options.js'
import { type Cause, MAX_CAUSES } from '../../../../model/event.js'
import { isClientError } from '../../../../model/stacks/frame-source.js'
import type { ErrorRecord } from '../../../../triage/queries/error-record.js'
import type { Rendered, Visit } from '../../../define.js'
import { CopyButton } from '../../../ui/copy.js'
import { MissingVariables } from '../../../ui/values/variables.js'
import { isEmpty } from '../occurrence/facts.js'
import { Frames, type ShownCause, type ShownStack } from './frames.js'
import type { ShownStacks } from './shown-stacks.js'

export function StackSection({
  record,
  stacks,
  visit,
}: {
  record: Pick<ErrorRecord, 'details'>
  stacks: ShownStacks
  visit: Visit
}): Rendered {
  const { stack, causes, note, max_lines } = stacks
  const raw = [stack.lines.join('\n'), ...causes.map((cause) => rawCause(cause, ''))].join('\n')
  return (
    <section class="panel" aria-labelledby="stack-title">
      <div class="panel-head">
        <h2 id="stack-title">Stack trace</h2>
        {stack.lines.length > 0 && <CopyButton from="stack-raw" label="Copy stack trace" />}
      </div>
      {stack.lines.length === 0 ? <p class="muted">No stack trace.</p> : <Frames stack={stack} open />}
      {stack.lines.length >= max_lines && (
        <p class="muted meta stack-note">{`At most ${max_lines} frames are stored (max_backtrace_lines).`}</p>
      )}
      {causes.map((cause) => (
        <CauseSection shown={cause} level={3} outer={stack} />
      ))}
      {mayHaveMoreCauses(causes) && (
        <p class="muted meta stack-note">
          {`At most ${MAX_CAUSES.depth} nested and ${MAX_CAUSES.aggregated} aggregated causes are stored, ${MAX_CAUSES.total} in total.`}
        </p>
      )}
      {note !== null && <p class="muted meta stack-note">{note}</p>}
      <NoVariables details={record.details} stacks={stacks} visit={visit} />
      {stack.lines.length > 0 && (
        <details class="raw">
          <summary>Raw</summary>
          <pre id="stack-raw" tabindex={0}>
            {raw}
          </pre>
        </details>
      )}
    </section>
  )
}

/** Explains missing variables while variables are enabled, unless another process reported the error. */
function NoVariables({
  details,
  stacks: { with_variables, other_variables },
  visit,
}: Pick<ErrorRecord, 'details'> & { stacks: ShownStacks; visit: Visit }): Rendered {
  const { enable_local_variables, local_variable_mode } = readOptions(visit.diagnosticOptions, localVariableOptions)
  const { local_variables = [], variables } = details
  const hasVariables =
    with_variables > 0 || other_variables.length > 0 || !Array.isArray(local_variables) || !isEmpty(variables)
  if (hasVariables || !enable_local_variables || isClientError(details)) return null
  return <MissingVariables mode={local_variable_mode} />
}

const RELATIONS: Record<Cause['relation'], string> = {
  cause: 'Caused by',
  aggregated: 'Aggregated',
  suppressed: 'Suppressed',
}

/**
 * Cause with its nested causes. Starts closed if variables are open, or if the outer source contains the same function.
 */
function CauseSection({
  shown,
  level,
  outer,
}: {
  shown: ShownCause
  level: number
  /** Stack of the error. */
  outer: ShownStack
}): Rendered {
  const { cause, stack, causes } = shown
  const Heading = `h${Math.min(6, level)}` as 'h3'
  return (
    <section class="cause">
      <Heading class="cause-title">
        <span class="muted">{RELATIONS[cause.relation] ?? cause.relation}</span> <bdi>{cause.error_type}</bdi>
        {cause.code && <code class="muted">{cause.code}</code>}
      </Heading>
      {cause.message && (
        <pre class="cause-message" dir="auto" tabindex={0}>
          {cause.message}
        </pre>
      )}
      {stack.lines.length > 0 && (
        <Frames stack={stack} open={level === 3 && !hasOpenVariables(outer) && !isInSameFunction(stack, outer)} />
      )}
      {causes.map((inner) => (
        <CauseSection shown={inner} level={level + 1} outer={outer} />
      ))}
    </section>
  )
}

/** Checks whether the stored causes reach one of their limits. */
function mayHaveMoreCauses(causes: readonly ShownCause[]): boolean {
  const depth = (list: readonly ShownCause[]): number =>
    list.length === 0 ? 0 : 1 + Math.max(...list.map(({ causes }) => depth(causes)))
  const all = (list: readonly ShownCause[]): readonly ShownCause[] =>
    list.flatMap((cause) => [cause, ...all(cause.causes)])
  const lists = [causes, ...all(causes).map((cause) => cause.causes)]
  return (
    depth(causes) >= MAX_CAUSES.depth ||
    all(causes).length >= MAX_CAUSES.total ||
    lists.some((list) => list.filter(({ cause }) => cause.relation === 'aggregated').length >= MAX_CAUSES.aggregated)
  )
}

/** Checks whether a frame with variables is open. A second open frame would move the request too far down. */
function hasOpenVariables({ parts, variables }: ShownStack): boolean {
  const open = parts.find((part) => part.kind === 'own')
  return open !== undefined && variables.has(open.frame)
}

/**
 * Checks whether the cause was thrown in the same function. The source of a rethrown error already contains the lines
 * of its cause.
 */
function isInSameFunction(stack: ShownStack, outer: ShownStack): boolean {
  const [frame, outerFrame] = [stack, outer].map(({ parts }) => parts.find((part) => part.kind === 'own')?.frame)
  return frame?.function_name === outerFrame?.function_name && frame?.file === outerFrame?.file
}

function rawCause({ cause, stack, causes }: ShownCause, indent: string): string {
  const head = `${indent}[${cause.relation}] ${cause.error_type}: ${cause.message}`
  const lines = stack.lines.map((line) => `${indent}    ${line}`)
  return [head, ...lines, ...causes.map((inner) => rawCause(inner, `${indent}  `))].join('\n')
}
