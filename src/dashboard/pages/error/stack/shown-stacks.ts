import type { Context } from '../../../../context.js'
import { type Histories, loadHistories } from '../../../../diagnostics/source/frame-history.js'
import { loadSentSources } from '../../../../diagnostics/source/sent-source.js'
import { loadSources } from '../../../../diagnostics/source/source-code.js'
import type { Cause } from '../../../../model/event.js'
import { isClientError, parseFrameSources } from '../../../../model/stacks/frame-source.js'
import { type FrameVariables, matchVariables, parseFrameVariables } from '../../../../model/stacks/frame-variables.js'
import type { ErrorRecord } from '../../../../triage/queries/error-record.js'
import { type StackFrame, stackFrames, stackParts } from '../../../../triage/queries/error-stack.js'
import type { Visit } from '../../../define.js'
import type { ShownSource } from './frame-source.js'
import type { ShownCause, ShownStack } from './frames.js'

export interface ShownStacks {
  stack: ShownStack
  causes: ShownCause[]
  /** Reason why no Git history is shown. */
  note: string | null
  /** Number of frames with variables. `other_variables` belong to frames outside the stack. */
  with_variables: number
  other_variables: FrameVariables[]
  /** Maximum number of stored lines. */
  max_lines: number
}

type ShownRecord = Pick<ErrorRecord, 'backtrace' | 'causes' | 'details' | 'occurrence' | 'git_sha'>

/**
 * Loads the stacks of an error and its causes, with source, Git history and variables of the first in-app frames.
 */
export async function loadStacks(
  context: Context,
  { backtrace, causes, details, occurrence, git_sha }: ShownRecord,
  { visit, wide_frame }: { visit: Visit; wide_frame?: number | undefined },
): Promise<ShownStacks> {
  const root = context.config.project_root
  const inAppFrames: StackFrame[] = []
  const sources: Map<StackFrame, ShownSource> = new Map()
  const variables: Map<StackFrame, FrameVariables> = new Map()
  const buildStack = (lines: readonly string[]): ShownStack => {
    const frames = stackFrames(lines, root)
    inAppFrames.push(...frames.filter(({ in_app, file }) => in_app && file !== null))
    return { parts: stackParts(frames), sources, variables, lines }
  }
  const buildCause = (cause: Cause): ShownCause => ({
    cause,
    stack: buildStack(cause.backtrace),
    causes: (cause.causes ?? []).map(buildCause),
  })
  const shown = { stack: buildStack(backtrace), causes: causes.map(buildCause) }
  const wideIndex = (wide_frame ?? 0) - 1
  // Without a stored occurrence, the origin is unknown.
  const isFromOtherProcess = occurrence === null || isClientError(details)
  const [found, histories] = isFromOtherProcess
    ? [await loadSentSources(inAppFrames, parseFrameSources(details.frame_sources)), NO_HISTORIES]
    : await Promise.all([
        loadSources(context, inAppFrames, { git_sha, wide: wideIndex }),
        loadHistories(context, inAppFrames, git_sha),
      ])
  for (const [i, source] of found.entries()) {
    const frame = inAppFrames[i]
    const history = histories.frames[i] ?? null
    const display = { number: i + 1, isWide: i === wideIndex, hasMore: !isFromOtherProcess, history, visit }
    if (frame && source) sources.set(frame, { source, ...display })
  }
  const { matched, unmatched } = matchVariables(inAppFrames, parseFrameVariables(details.local_variables))
  for (const [frame, one] of matched) variables.set(frame, one)
  return {
    ...shown,
    note: histories.note,
    with_variables: matched.size,
    other_variables: unmatched,
    max_lines: context.config.max_backtrace_lines,
  }
}

const NO_HISTORIES: Histories = { frames: [], note: null }
