import type { Frame } from './backtrace.js'

/** Variables visible to one stack frame when the error was thrown, as plain, bounded, redacted data. */
export interface FrameVariables {
  function: string | null
  /** Relative to the project root if it is inside, as in a frame. */
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
    (variablesOfFrame): variablesOfFrame is FrameVariables =>
      isObject(variablesOfFrame) &&
      'variables' in variablesOfFrame &&
      isObject(variablesOfFrame.variables) &&
      'file' in variablesOfFrame,
  )
}

/**
 * Assigns variables to the frames of a stack. An error can be created on one line and thrown on another, so the same
 * function in the same file is enough. Recursion repeats a frame, so each set of variables is used once.
 */
export function matchVariables<F extends Frame>(
  frames: readonly F[],
  variables: readonly FrameVariables[],
): { matched: Map<F, FrameVariables>; others: FrameVariables[] } {
  const matched = new Map<F, FrameVariables>()
  const left = new Set(variables)
  for (const isSame of [isSamePlace, isSameFunction]) {
    for (const variablesOfFrame of left) {
      const frame = frames.find((candidate) => !matched.has(candidate) && isSame(candidate, variablesOfFrame))
      if (!frame) continue
      matched.set(frame, variablesOfFrame)
      left.delete(variablesOfFrame)
    }
  }
  return { matched, others: [...left] }
}

function isSamePlace({ file, line_number }: Frame, variablesOfFrame: FrameVariables): boolean {
  return file !== null && file === variablesOfFrame.file && line_number === variablesOfFrame.line_number
}

function isSameFunction({ file, function_name }: Frame, variablesOfFrame: FrameVariables): boolean {
  return (
    file !== null && file === variablesOfFrame.file && bareName(function_name) === bareName(variablesOfFrame.function)
  )
}

/** `async Cart.total [as sum]` and `total` are the same function. */
function bareName(name: string | null): string {
  return (name ?? '').replace(/ \[as .*\]$/, '').replace(/^.*[. ]/, '')
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
