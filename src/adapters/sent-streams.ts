import { errorMonitor } from 'node:events'
import type { Readable } from 'node:stream'

/**
 * Reports a response that fails while it is sent, which frameworks at most log. Uses the error monitor, so that an
 * unhandled stream error still ends the process.
 */
export function watchStream(stream: unknown, report: (error: unknown) => void): void {
  if (isStream(stream)) stream.on(errorMonitor, report)
}

function isStream(value: unknown): value is Readable {
  if (typeof value !== 'object' || value === null) return false
  const { pipe, on } = value as { pipe?: unknown; on?: unknown }
  return typeof pipe === 'function' && typeof on === 'function'
}
