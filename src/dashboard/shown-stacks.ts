import type { Context } from '../context.js'
import { sourcesOf } from '../diagnostics/source-code.js'
import type { Cause } from '../model/event.js'
import type { ErrorRecord } from '../triage/error-record.js'
import { type StackFrame, stackFrames, stackParts } from '../triage/error-stack.js'
import type { ShownStack } from './components/frames.js'
import type { ShownCause } from './components/stack.js'

/** The stack of an error and those of its causes, with the source of the first frames of the host's own code. */
export async function shownStacks(
  context: Context,
  { backtrace, causes }: Pick<ErrorRecord, 'backtrace' | 'causes'>,
): Promise<{ stack: ShownStack; causes: ShownCause[] }> {
  const root = context.config.project_root ?? ''
  const own: StackFrame[] = []
  const sources: Map<StackFrame, NonNullable<Awaited<ReturnType<typeof sourcesOf>>[number]>> = new Map()
  const stackOf = (lines: readonly string[]): ShownStack => {
    const frames = stackFrames(lines, root)
    own.push(...frames.filter(({ in_app, file }) => in_app && file !== null))
    return { parts: stackParts(frames), sources, lines }
  }
  const causeOf = (cause: Cause): ShownCause => ({
    cause,
    stack: stackOf(cause.backtrace),
    causes: (cause.causes ?? []).map(causeOf),
  })
  const shown = { stack: stackOf(backtrace), causes: causes.map(causeOf) }
  for (const [i, source] of (await sourcesOf(context, own)).entries()) {
    const frame = own[i]
    if (frame && source) sources.set(frame, source)
  }
  return shown
}
