import type { Context } from '../../../context.js'
import { type Histories, historiesOf } from '../../../diagnostics/source/frame-history.js'
import { sentSourcesOf } from '../../../diagnostics/source/sent-source.js'
import { sourcesOf } from '../../../diagnostics/source/source-code.js'
import type { Cause } from '../../../model/event.js'
import { isClientError, parseFrameSources } from '../../../model/stacks/frame-source.js'
import { type FrameVariables, matchVariables, parseFrameVariables } from '../../../model/stacks/frame-variables.js'
import type { ErrorRecord } from '../../../triage/queries/error-record.js'
import { type StackFrame, stackFrames, stackParts } from '../../../triage/queries/error-stack.js'
import type { Visit } from '../../define.js'
import type { ShownSource } from './frame-source.js'
import type { ShownStack } from './frames.js'
import type { ShownCause } from './stack.js'

export interface ShownStacks {
  stack: ShownStack
  causes: ShownCause[]
  /** Why git tells nothing of them. */
  note: string | null
  /** How many frames have their variables, and the variables of which no frame is shown. */
  with_variables: number
  other_variables: FrameVariables[]
}

type Shown = Pick<ErrorRecord, 'backtrace' | 'causes' | 'details' | 'occurrence' | 'git_sha'>

/**
 * The stack of an error and those of its causes, with the source of the first frames of the host's own code, and the
 * variables of those that have some.
 */
export async function shownStacks(
  context: Context,
  { backtrace, causes, details, occurrence, git_sha }: Shown,
  { visit, wide_frame }: { visit: Visit; wide_frame?: number | undefined },
): Promise<ShownStacks> {
  const root = context.config.project_root
  const own: StackFrame[] = []
  const sources: Map<StackFrame, ShownSource> = new Map()
  const variables: Map<StackFrame, FrameVariables> = new Map()
  const stackOf = (lines: readonly string[]): ShownStack => {
    const frames = stackFrames(lines, root)
    own.push(...frames.filter(({ in_app, file }) => in_app && file !== null))
    return { parts: stackParts(frames), sources, variables, lines }
  }
  const causeOf = (cause: Cause): ShownCause => ({
    cause,
    stack: stackOf(cause.backtrace),
    causes: (cause.causes ?? []).map(causeOf),
  })
  const shown = { stack: stackOf(backtrace), causes: causes.map(causeOf) }
  const wide = (wide_frame ?? 0) - 1
  // Where no occurrence is kept, nothing tells any more where it happened.
  const is_foreign = occurrence === null || isClientError(details)
  const [found, histories] = is_foreign
    ? [await sentSourcesOf(own, parseFrameSources(details.frame_sources)), NO_HISTORIES]
    : await Promise.all([sourcesOf(context, own, { git_sha, wide }), historiesOf(context, own, git_sha)])
  for (const [i, source] of found.entries()) {
    const frame = own[i]
    const history = histories.frames[i] ?? null
    const shown_as = { number: i + 1, is_wide: i === wide, has_more: !is_foreign, history, visit }
    if (frame && source) sources.set(frame, { source, ...shown_as })
  }
  const { matched, others } = matchVariables(own, parseFrameVariables(details.local_variables))
  for (const [frame, one] of matched) variables.set(frame, one)
  return { ...shown, note: histories.note, with_variables: matched.size, other_variables: others }
}

const NO_HISTORIES: Histories = { frames: [], note: null }
