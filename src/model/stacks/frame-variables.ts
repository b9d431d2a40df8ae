import type { Frame } from './backtrace.js'

/** The variables that one frame of a stack could see when the error was thrown, as plain, bounded, redacted data. */
export interface FrameVariables {
  function: string | null
  /** Relative to the project's root where it lies inside it, as in a frame. */
  file: string | null
  line_number: number | null
  variables: Readonly<Record<string, unknown>>
  /** What `this` held, in the first frame alone. */
  instance_variables?: Readonly<Record<string, unknown>>
}

/** Under this key stands what kind of object the others describe: `Order`, `Map(3)`. No identifier can be called so. */
export const TYPE_KEY = '(type)'
/** Under this one, how much was left out. */
export const MORE_KEY = '(more)'

/** What a stored occurrence says it has; anything else that stands there is none of ours. */
export function frameVariablesOf(stored: unknown): FrameVariables[] {
  if (!Array.isArray(stored)) return []
  return stored.filter(
    (one): one is FrameVariables => isObject(one) && 'variables' in one && isObject(one.variables) && 'file' in one,
  )
}

/**
 * Which variables belong to which frame of a stack. An error may be made on one line and thrown on another, so that the
 * same function of the same file is enough; a recursion has the same frame many times, so that each is given once.
 */
export function matchVariables<F extends Frame>(
  frames: readonly F[],
  variables: readonly FrameVariables[],
): { matched: Map<F, FrameVariables>; others: FrameVariables[] } {
  const matched = new Map<F, FrameVariables>()
  const left = new Set(variables)
  for (const isSame of [isSamePlace, isSameFunction]) {
    for (const one of left) {
      const frame = frames.find((candidate) => !matched.has(candidate) && isSame(candidate, one))
      if (!frame) continue
      matched.set(frame, one)
      left.delete(one)
    }
  }
  return { matched, others: [...left] }
}

function isSamePlace({ file, line_number }: Frame, one: FrameVariables): boolean {
  return file !== null && file === one.file && line_number === one.line_number
}

function isSameFunction({ file, function_name }: Frame, one: FrameVariables): boolean {
  return file !== null && file === one.file && bareName(function_name) === bareName(one.function)
}

/** `async Cart.total [as sum]` and `total` are one function. */
function bareName(name: string | null): string {
  return (name ?? '').replace(/ \[as .*\]$/, '').replace(/^.*[. ]/, '')
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
