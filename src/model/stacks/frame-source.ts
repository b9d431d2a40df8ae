/** Frames of an error whose source is kept, and lines to either side of a frame's own. */
export const MOST_SOURCES = 10
export const MOST_AROUND = 10

/** Lines of source around a frame of another process, as its client sent them or a stored map has them; filtered and bounded. */
export interface FrameSource {
  /** The line of the backtrace that they belong to. */
  frame: string
  /** The number of the first of `lines`. */
  first: number
  lines: readonly string[]
}

/** What a stored occurrence says it has; anything else that stands there is none of ours. */
export function frameSourcesOf(stored: unknown): FrameSource[] {
  return Array.isArray(stored) ? stored.filter(isFrameSource) : []
}

/** Whether an error happened elsewhere: files of this machine that are called like those of its frames are others. */
export function isForeign({ source }: Readonly<Record<string, unknown>>): boolean {
  return source === 'sentry' || source === 'reporting'
}

function isFrameSource(value: unknown): value is FrameSource {
  if (typeof value !== 'object' || value === null) return false
  const { frame, first, lines } = value as Partial<Record<keyof FrameSource, unknown>>
  return (
    typeof frame === 'string' &&
    Number.isSafeInteger(first) &&
    Array.isArray(lines) &&
    lines.every((line) => typeof line === 'string')
  )
}
