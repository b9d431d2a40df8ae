import type { LogErrorInput } from '../fields.js'

/** Position in a distributed trace. */
export interface Trace {
  trace_id: string
  span_id?: string
}

/** Returns the trace passed with an error, or the trace of the active OpenTelemetry span. Null without either. */
export function resolveTrace({ trace_id, span_id }: Pick<LogErrorInput, 'trace_id' | 'span_id'>): Trace | null {
  return parseTrace(trace_id, span_id) ?? activeTrace()
}

/** Ids in W3C Trace Context format; null if they are invalid. */
export function parseTrace(trace_id: unknown, span_id?: unknown): Trace | null {
  if (typeof trace_id !== 'string' || !TRACE_ID.test(trace_id) || ALL_ZEROS.test(trace_id)) return null
  const trace: Trace = { trace_id: trace_id.toLowerCase() }
  if (typeof span_id === 'string' && SPAN_ID.test(span_id) && !ALL_ZEROS.test(span_id))
    trace.span_id = span_id.toLowerCase()
  return trace
}

const TRACE_ID = /^[0-9a-f]{32}$/i
const SPAN_ID = /^[0-9a-f]{16}$/i
const ALL_ZEROS = /^0+$/

/** Global where @opentelemetry/api stores its instance once the host has registered an SDK. */
const OTEL_API = Symbol.for('opentelemetry.js.api.1')
const ACTIVE_SPAN = Symbol.for('OpenTelemetry Context Key SPAN')

interface OpenTelemetryApi {
  context?: { active?(): { getValue?(key: symbol): unknown } | undefined }
}

/** Never imports the API, so it costs a host without OpenTelemetry one property access. */
function activeTrace(): Trace | null {
  const api = (globalThis as { [OTEL_API]?: OpenTelemetryApi })[OTEL_API]
  if (!api) return null
  try {
    const span = api.context?.active?.()?.getValue?.(ACTIVE_SPAN) as { spanContext?(): Record<string, unknown> } | null
    const { traceId, spanId } = span?.spanContext?.() ?? {}
    return parseTrace(traceId, spanId)
  } catch {
    // The host's own context manager threw: record the error without its trace.
    return null
  }
}

/** Maximum time from the recording of an error by a hook to the end of its span. */
const SAME_ERROR_MS = 5000
const MAX_TRACKED_TRACES = 1000

/**
 * Recently recorded messages per trace, so that an error recorded by a hook is not recorded again from its span.
 * Compares messages, because OpenTelemetry can use the error code as the type.
 */
export class TraceSightings {
  readonly #now: () => number
  readonly #seen = new Map<string, number>()

  constructor(now: () => number) {
    this.#now = now
  }

  markLogged(trace_id: string, message: string): void {
    const key = messageKey(trace_id, message)
    this.#seen.delete(key)
    this.#seen.set(key, this.#now())
    if (this.#seen.size <= MAX_TRACKED_TRACES) return
    for (const oldest of this.#seen.keys()) {
      this.#seen.delete(oldest)
      return
    }
  }

  /**
   * Checks whether a hook recorded the error of a span that ended at `endedAt`. The record may precede the end by a few
   * seconds, or follow it at any time.
   */
  isLogged(trace_id: string, message: string, endedAt: number): boolean {
    const loggedAt = this.#seen.get(messageKey(trace_id, message))
    return loggedAt !== undefined && endedAt - loggedAt <= SAME_ERROR_MS
  }
}

/** Prefix of the message, long enough to distinguish errors of one trace. Bounds the memory for long messages. */
function messageKey(trace_id: string, message: string): string {
  const text = message.trim()
  return `${trace_id} ${text.length > 200 ? Buffer.from(text.slice(0, 200)).toString() : text}`
}
