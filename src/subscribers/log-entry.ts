import { types } from 'node:util'

/**
 * Represents a log entry of level error without an Error. Its stack shows where it was logged: below the given
 * function, or below the channel on which it was published.
 */
export class LogEntry extends Error {
  override name = 'LogEntry'

  constructor(message: string | undefined, topFunction?: (...values: never[]) => unknown) {
    super(message)
    // Loggers add many frames between the host and this subscriber.
    const { stackTraceLimit } = Error
    Reflect.set(Error, 'stackTraceLimit', MAX_LOGGER_FRAMES)
    Error.captureStackTrace(this, topFunction)
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
    const lines = this.stack?.split('\n') ?? []
    const channelLine = lines.findLastIndex((line) => line.includes('(node:diagnostics_channel'))
    if (channelLine > 0) this.stack = [lines[0], ...lines.slice(channelLine + 1)].join('\n')
  }
}

const MAX_LOGGER_FRAMES = 50

/** The Error in one of the usual fields of a log entry, read without running host code. */
export function findError(fields: unknown, keys: readonly string[]): Error | undefined {
  if (types.isNativeError(fields)) return fields
  if (typeof fields !== 'object' || fields === null || types.isProxy(fields)) return undefined
  for (const key of keys) {
    const value: unknown = Object.getOwnPropertyDescriptor(fields, key)?.value
    if (isError(value)) return value
  }
  return undefined
}

/** Also accepts an Error of another realm, or of a class that inherits from it. */
function isError(value: unknown): value is Error {
  if (types.isProxy(value)) return false
  return types.isNativeError(value) || value instanceof Error
}

/** The other fields of the entry; the error itself is recorded in full. */
export function otherFields(error: unknown, fields: unknown): Record<string, unknown> {
  if (typeof fields !== 'object' || fields === null || types.isProxy(fields) || fields === error) return {}
  const remaining: Record<string, unknown> = {}
  for (const key of Object.keys(fields).slice(0, MAX_FIELDS)) {
    const value: unknown = Object.getOwnPropertyDescriptor(fields, key)?.value
    if (value !== error && value !== undefined) remaining[key] = value
  }
  return remaining
}

const MAX_FIELDS = 50
