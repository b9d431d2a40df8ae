import type { LogErrorInput } from '../fields.js'

/** Where in a distributed trace something happened. */
export interface Trace {
  trace_id: string
  span_id?: string
}

/** The trace that was given with an error, else that of the span OpenTelemetry has active. Null where there is none. */
export function traceOf({ trace_id, span_id }: Pick<LogErrorInput, 'trace_id' | 'span_id'>): Trace | null {
  return traceFrom(trace_id, span_id) ?? activeTrace()
}

/** The ids in the spelling of W3C Trace Context; null for what is no trace. */
export function traceFrom(trace_id: unknown, span_id?: unknown): Trace | null {
  if (typeof trace_id !== 'string' || !TRACE_ID.test(trace_id) || NOTHING.test(trace_id)) return null
  const trace: Trace = { trace_id: trace_id.toLowerCase() }
  if (typeof span_id === 'string' && SPAN_ID.test(span_id) && !NOTHING.test(span_id))
    trace.span_id = span_id.toLowerCase()
  return trace
}

const TRACE_ID = /^[0-9a-f]{32}$/i
const SPAN_ID = /^[0-9a-f]{16}$/i
const NOTHING = /^0+$/

/** What @opentelemetry/api keeps here once the host has loaded it and registered its SDK. */
const API = Symbol.for('opentelemetry.js.api.1')
const ACTIVE_SPAN = Symbol.for('OpenTelemetry Context Key SPAN')

interface OpenTelemetryApi {
  context?: { active?(): { getValue?(key: symbol): unknown } | undefined }
}

/** Never imports the API: a host without it pays one look at a property. */
function activeTrace(): Trace | null {
  const api = (globalThis as { [API]?: OpenTelemetryApi })[API]
  if (!api) return null
  try {
    const span = api.context?.active?.()?.getValue?.(ACTIVE_SPAN) as { spanContext?(): Record<string, unknown> } | null
    const { traceId, spanId } = span?.spanContext?.() ?? {}
    return traceFrom(traceId, spanId)
  } catch {
    // A context manager of the host's own making: the error is worth recording without its trace.
    return null
  }
}

/** The same error may be recorded by a hook and on its span within so long. */
const SAME_ERROR_MS = 5000
const MOST = 1000

/**
 * Which messages were recorded lately in which trace, so that what a hook has recorded is not recorded from its span,
 * too. By the message, because OpenTelemetry may call the type by the error's code.
 */
export class TraceSightings {
  readonly #now: () => number
  readonly #seen = new Map<string, number>()

  constructor(now: () => number) {
    this.#now = now
  }

  logged(trace_id: string, message: string): void {
    const key = keyOf(trace_id, message)
    this.#seen.delete(key)
    this.#seen.set(key, this.#now())
    if (this.#seen.size <= MOST) return
    for (const oldest of this.#seen.keys()) {
      this.#seen.delete(oldest)
      return
    }
  }

  isLogged(trace_id: string, message: string): boolean {
    const at = this.#seen.get(keyOf(trace_id, message))
    return at !== undefined && this.#now() - at <= SAME_ERROR_MS
  }
}

/** As much of the message as tells errors of one trace apart: a thousand long ones must not be held. */
function keyOf(trace_id: string, message: string): string {
  const text = message.trim()
  return `${trace_id} ${text.length > 200 ? Buffer.from(text.slice(0, 200)).toString() : text}`
}
