import { filterStack } from '../../../capture/hooks.js'
import type { SourcePositions } from '../../../capture/source-maps/source-positions.js'
import { culpritFrame, relativeLines, stackLines } from '../../../model/stacks/backtrace.js'
import { ownData } from './counting/error-parts.js'

export interface RaiseLocationOptions {
  root: string
  /** Folder of this package, whose frames do not belong to the host. */
  ownFolder: string
  positions: SourcePositions | undefined
}

const MAX_FRAMES = 30

/** Returns the innermost location of the host's code in a stack, such as `src/cart.ts:12:9`. */
export function raiseLocation(error: object, { root, ownFolder, positions }: RaiseLocationOptions): string | null {
  // Not `ownData`: `stack` is an accessor in some V8 versions.
  const { stack } = error as { stack?: unknown }
  const message = ownData(error, 'message')
  if (typeof stack !== 'string') return null
  const lines = stackLines(stack, typeof message === 'string' ? message : '', MAX_FRAMES)
  const hostLines = filterStack(Object.freeze(lines.filter((line) => !line.includes(ownFolder))))
  const frame = culpritFrame(relativeLines(positions ? positions.original(hostLines) : hostLines, root), root)
  if (!frame?.in_app || !frame.file || frame.file.startsWith('/')) return null
  return [frame.file, frame.line_number, frame.column].filter((part) => part !== null).join(':')
}
