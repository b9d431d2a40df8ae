import { filterStack } from '../../../capture/hooks.js'
import type { SourcePositions } from '../../../capture/source-maps/source-positions.js'
import { culpritFrame, relativeLines, stackLines } from '../../../model/stacks/backtrace.js'
import { ownData } from './error-parts.js'

export interface RaiseLocationOptions {
  root: string
  /** Where we lie ourselves: frames of ours are none of the host's. */
  own_folder: string
  positions: SourcePositions | undefined
}

const FRAMES = 30

/** The newest place in the host's own code that the stack of an error tells, such as `src/cart.ts:12:9`. */
export function raiseLocation(error: object, { root, own_folder, positions }: RaiseLocationOptions): string | null {
  // V8 writes a stack when it is read, and a version of it has it as a getter.
  const { stack } = error as { stack?: unknown }
  const message = ownData(error, 'message')
  if (typeof stack !== 'string') return null
  const lines = stackLines(stack, typeof message === 'string' ? message : '', FRAMES)
  const own = filterStack(Object.freeze(lines.filter((line) => !line.includes(own_folder))))
  const frame = culpritFrame(relativeLines(positions ? positions.original(own) : own, root), root)
  if (!frame?.in_app || !frame.file || frame.file.startsWith('/')) return null
  return [frame.file, frame.line_number, frame.column].filter((part) => part !== null).join(':')
}
