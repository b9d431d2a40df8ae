import type { Cause } from '../../../../model/event.js'
import type { Rendered } from '../../../define.js'
import { CopyButton } from '../../../ui/copy.js'
import { Frames, type ShownStack } from './frames.js'

export interface ShownCause {
  cause: Cause
  stack: ShownStack
  causes: readonly ShownCause[]
}

export function StackSection({
  stack,
  causes,
  note,
}: {
  stack: ShownStack
  causes: readonly ShownCause[]
  /** Reason why no Git history is shown. */
  note: string | null
}): Rendered {
  const raw = [stack.lines.join('\n'), ...causes.map((cause) => rawCause(cause, ''))].join('\n')
  return (
    <section class="panel" aria-labelledby="stack-title">
      <div class="panel-head">
        <h2 id="stack-title">Stack trace</h2>
        {stack.lines.length > 0 && <CopyButton from="stack-raw" label="Copy stack trace" />}
      </div>
      {stack.lines.length === 0 ? <p class="muted">No stack trace.</p> : <Frames stack={stack} first />}
      {causes.map((cause) => (
        <CauseSection shown={cause} level={3} />
      ))}
      {note !== null && <p class="muted meta stack-note">{note}</p>}
      {stack.lines.length > 0 && (
        <details class="raw">
          <summary class="raw-summary">Raw</summary>
          <pre id="stack-raw" tabindex={0}>
            {raw}
          </pre>
        </details>
      )}
    </section>
  )
}

const RELATIONS: Record<Cause['relation'], string> = {
  cause: 'Caused by',
  aggregated: 'Aggregated',
  suppressed: 'Suppressed',
}

/** Cause with its nested causes. Heading levels end at h6. */
function CauseSection({ shown, level }: { shown: ShownCause; level: number }): Rendered {
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
      {stack.lines.length > 0 && <Frames stack={stack} />}
      {causes.map((inner) => (
        <CauseSection shown={inner} level={level + 1} />
      ))}
    </section>
  )
}

function rawCause({ cause, stack, causes }: ShownCause, indent: string): string {
  const head = `${indent}[${cause.relation}] ${cause.error_type}: ${cause.message}`
  const lines = stack.lines.map((line) => `${indent}    ${line}`)
  return [head, ...lines, ...causes.map((inner) => rawCause(inner, `${indent}  `))].join('\n')
}
