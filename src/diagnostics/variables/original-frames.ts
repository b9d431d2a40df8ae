import { findSourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { SourcePositions } from '../../capture/source-maps/source-positions.js'
import { FILTERED, type Redactor } from '../../model/redaction/redaction.js'
import { parseFrame } from '../../model/stacks/backtrace.js'
import { type FrameVariables, MORE_KEY } from '../../model/stacks/frame-variables.js'
import { cleanText } from '../../model/text.js'
import type { ReadFrame, ReadVariable } from './read-frames.js'

export interface Originals {
  project_root: string
  positions: SourcePositions | undefined
  /** A name that only the source map knows may be that of a secret. */
  redactor: Redactor
}

/** The frames as the stack shows them: in the original source, by its names and positions. */
export function originalFrames(frames: readonly ReadFrame[], originals: Originals): FrameVariables[] {
  const lines = frames.map(stackLine)
  const mapped = originals.positions?.original(lines) ?? lines
  return frames.map((frame, i) => {
    const line = mapped[i] === lines[i] ? (lineByNode(frame) ?? lines[i]) : mapped[i]
    const { function_name, file, line_number } = parseFrame(line ?? '', originals.project_root)
    return {
      function: function_name ?? (cleanText(frame.function_name, 255) || null),
      file,
      line_number,
      variables: variablesOf(frame, originals),
      ...(frame.instance_variables ? { instance_variables: frame.instance_variables } : {}),
    }
  })
}

/** A name that would be read as part of the place is left out here. */
const PLAIN_NAME = /^[\p{ID_Start}$_#][\p{ID_Continue}$#. ]*$/u

function stackLine({ function_name, url, line, column }: ReadFrame): string {
  const place = `${pathOf(url)}:${line}:${column}`
  return PLAIN_NAME.test(function_name) ? `at ${function_name} (${place})` : `at ${place}`
}

/** Code that was compiled while it was loaded has a map in memory alone, by which Node.js maps its stacks too. */
function lineByNode(frame: ReadFrame): string | null {
  try {
    const entry = findSourceMap(frame.url)?.findEntry(frame.line - 1, frame.column - 1)
    if (!entry || !('originalSource' in entry)) return null
    const { originalSource, originalLine, originalColumn } = entry
    return stackLine({ ...frame, url: originalSource, line: originalLine + 1, column: originalColumn + 1 })
  } catch {
    // A map that cannot be read leaves the positions of the running code.
    return null
  }
}

function pathOf(url: string): string {
  try {
    return url.startsWith('file://') ? fileURLToPath(url) : url
  } catch {
    // No file of this machine; the address says where it is as well.
    return url
  }
}

function variablesOf(frame: ReadFrame, { positions, redactor }: Originals): Record<string, unknown> {
  const variables: Record<string, unknown> = {}
  for (const [from, ofScope] of byScope(frame.variables)) {
    const to = ofScope[0]?.to
    const names = ofScope.map(({ name }) => name)
    const original = from && to ? positions?.variableNames(pathOf(frame.url), [from, to], names) : undefined
    for (const { name, value } of ofScope) {
      const known = original?.get(name)
      const isSecret = known !== undefined && redactor.isSensitiveKey(known)
      define(variables, known ?? name, isSecret ? FILTERED : value)
    }
  }
  if (frame.left_out > 0) variables[MORE_KEY] = `${frame.left_out} more`
  return variables
}

function byScope(variables: readonly ReadVariable[]) {
  const found = new Map<ReadVariable['from'], ReadVariable[]>()
  for (const one of variables) found.set(one.from, [...(found.get(one.from) ?? []), one])
  return found
}

/** Two scopes may have held a variable of one original name; the innermost came first. */
function define(target: object, key: string, value: unknown): void {
  if (Object.hasOwn(target, key)) return
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}
