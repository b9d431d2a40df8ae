import type { Frame } from './backtrace.js'

/** Variables visible to one stack frame when the error was thrown, as plain, bounded, redacted data. */
export interface FrameVariables {
  function: string | null
  /** Relative to the project root if the file is inside the root, as in a frame. */
  file: string | null
  line_number: number | null
  variables: Readonly<Record<string, unknown>>
  /** Properties of `this`, in the first frame only. */
  instance_variables?: Readonly<Record<string, unknown>>
}

/** Key for the type of the described object: `Order`, `Map(3)`. No identifier can have this name. */
export const TYPE_KEY = '(type)'
/** Key for the number of omitted items. */
export const MORE_KEY = '(more)'

/** Reads the variables of a stored occurrence and skips anything malformed. */
export function parseFrameVariables(stored: unknown): FrameVariables[] {
  if (!Array.isArray(stored)) return []
  return stored.filter(
    (frameVariables): frameVariables is FrameVariables =>
      isObject(frameVariables) &&
      'variables' in frameVariables &&
      isObject(frameVariables.variables) &&
      'file' in frameVariables,
  )
}

/**
 * Assigns variables to the frames of a stack. An error can be created on one line and thrown on another, so the same
 * function in the same file is enough. Recursion repeats a frame, so each set of variables is used once.
 */
export function matchVariables<F extends Frame>(
  frames: readonly F[],
  variables: readonly FrameVariables[],
): { matched: Map<F, FrameVariables>; unmatched: FrameVariables[] } {
  const matched = new Map<F, FrameVariables>()
  const unmatched = new Set(variables)
  for (const isSameFrame of [isSamePlace, isSameFunction]) {
    for (const frameVariables of unmatched) {
      const frame = frames.find((candidate) => !matched.has(candidate) && isSameFrame(candidate, frameVariables))
      if (!frame) continue
      matched.set(frame, frameVariables)
      unmatched.delete(frameVariables)
    }
  }
  return { matched, unmatched: [...unmatched] }
}

function isSamePlace({ file, line_number }: Frame, frameVariables: FrameVariables): boolean {
  return file !== null && file === frameVariables.file && line_number === frameVariables.line_number
}

function isSameFunction({ file, function_name }: Frame, frameVariables: FrameVariables): boolean {
  return file !== null && file === frameVariables.file && bareName(function_name) === bareName(frameVariables.function)
}

/** `async Cart.total [as sum]` and `total` are the same function. */
function bareName(name: string | null): string {
  return (name ?? '').replace(/ \[as .*\]$/, '').replace(/^.*[. ]/, '')
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
