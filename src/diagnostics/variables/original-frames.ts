import { findSourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { SourcePositions } from '../../capture/source-maps/source-positions.js'
import { FILTERED, type Redactor } from '../../model/redaction/redaction.js'
import { parseFrame } from '../../model/stacks/backtrace.js'
import { type FrameVariables, MORE_KEY } from '../../model/stacks/frame-variables.js'
import { cleanText } from '../../model/text.js'
import type { ReadFrame, ReadVariable } from './read-frames.js'

export interface OriginalFramesOptions {
  projectRoot: string
  positions: SourcePositions | undefined
  /** Needed because the original name of a minified variable can be sensitive. */
  redactor: Redactor
}

/** Converts frames to the names and positions of the original source. */
export function originalFrames(frames: readonly ReadFrame[], options: OriginalFramesOptions): FrameVariables[] {
  const lines = frames.map(stackLine)
  const mapped = options.positions?.original(lines) ?? lines
  return frames.map((frame, i) => {
    const line = mapped[i] === lines[i] ? (lineFromNode(frame) ?? lines[i]) : mapped[i]
    const { function_name, file, line_number } = parseFrame(line ?? '', options.projectRoot)
    return {
      function: function_name ?? (cleanText(frame.functionName, 255) || null),
      file,
      line_number,
      variables: originalVariables(frame, options),
      ...(frame.instanceVariables ? { instance_variables: frame.instanceVariables } : {}),
    }
  })
}

/** Names that cannot be confused with a location in a stack line. */
const PLAIN_NAME = /^[\p{ID_Start}$_#][\p{ID_Continue}$#. ]*$/u

function stackLine({ functionName, url, line, column }: ReadFrame): string {
  const location = `${toPath(url)}:${line}:${column}`
  return PLAIN_NAME.test(functionName) ? `at ${functionName} (${location})` : `at ${location}`
}

/** Uses the source map that Node.js holds in memory for code compiled at load time. */
function lineFromNode(frame: ReadFrame): string | null {
  try {
    const entry = findSourceMap(frame.url)?.findEntry(frame.line - 1, frame.column - 1)
    if (!entry || !('originalSource' in entry)) return null
    const { originalSource, originalLine, originalColumn } = entry
    return stackLine({ ...frame, url: originalSource, line: originalLine + 1, column: originalColumn + 1 })
  } catch {
    // Without a readable map, the frame keeps the position in the running code.
    return null
  }
}

function toPath(url: string): string {
  try {
    return url.startsWith('file://') ? fileURLToPath(url) : url
  } catch {
    // Not a file on this machine.
    return url
  }
}

function originalVariables(frame: ReadFrame, { positions, redactor }: OriginalFramesOptions): Record<string, unknown> {
  const variables: Record<string, unknown> = {}
  for (const [start, inScope] of groupByScope(frame.variables)) {
    const end = inScope[0]?.end
    const names = inScope.map(({ name }) => name)
    const originalNames = start && end ? positions?.variableNames(toPath(frame.url), [start, end], names) : undefined
    for (const { name, value } of inScope) {
      const originalName = originalNames?.get(name)
      const isSecret = originalName !== undefined && redactor.isSensitiveKey(originalName)
      defineOnce(variables, originalName ?? name, isSecret ? FILTERED : value)
    }
  }
  if (frame.omittedCount > 0) variables[MORE_KEY] = `${frame.omittedCount} more`
  return variables
}

function groupByScope(variables: readonly ReadVariable[]): Map<ReadVariable['start'], ReadVariable[]> {
  const groups = new Map<ReadVariable['start'], ReadVariable[]>()
  for (const variable of variables) groups.set(variable.start, [...(groups.get(variable.start) ?? []), variable])
  return groups
}

/** Keeps the innermost variable if several scopes use the same original name. */
function defineOnce(target: object, key: string, value: unknown): void {
  if (Object.hasOwn(target, key)) return
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}
