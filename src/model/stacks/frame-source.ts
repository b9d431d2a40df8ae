/** Maximum number of frames per error with stored source, and of lines on either side of the frame's line. */
export const MAX_FRAME_SOURCES = 10
export const MAX_CONTEXT_LINES = 10

/**
 * Source lines around a frame of another process, sent by its client or taken from a stored source map; filtered and
 * bounded.
 */
export interface FrameSource {
  /** The backtrace line that the source belongs to. */
  frame: string
  /** Line number of the first item in `lines`. */
  first: number
  lines: readonly string[]
}

/** Reads the frame sources of a stored occurrence and skips anything malformed. */
export function parseFrameSources(stored: unknown): FrameSource[] {
  return Array.isArray(stored) ? stored.filter(isFrameSource) : []
}

/**
 * Returns true if an error occurred in another process. Local files with the same names as its frames are unrelated.
 */
export function isClientError({ source }: Readonly<Record<string, unknown>>): boolean {
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
