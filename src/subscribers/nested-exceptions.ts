import type { SpanException, SpanLike } from './span-exceptions.js'

/**
 * Tracks exceptions across nested spans. A rethrown exception can be recorded on every enclosing span, but is one
 * error. Exceptions of two attempts are on sibling spans. Spans end from the inside out, so each ended span passes its
 * exceptions to its parent. Inspects no span while no exceptions are pending.
 */
export class NestedExceptions {
  readonly #bySpan = new Map<string, Set<SpanException>>()
  readonly #spanIds = new Map<SpanException, string>()

  isEmpty(): boolean {
    return this.#spanIds.size === 0
  }

  /** Returns true if the same exception is already on this span or was passed on by an inner span. */
  has(exception: SpanException): boolean {
    for (const existing of this.#bySpan.get(exception.span_id) ?? [])
      if (isSameException(existing, exception)) return true
    return false
  }

  add(exception: SpanException): void {
    this.#put(exception, exception.span_id)
  }

  /** Passes the exceptions of an ended span to its parent. */
  passToParent(span: SpanLike): void {
    const { spanId } = span.spanContext()
    const exceptions = this.#bySpan.get(spanId)
    if (!exceptions) return
    this.#bySpan.delete(spanId)
    const parentId = span.parentSpanContext?.spanId ?? span.parentSpanId
    for (const exception of exceptions) {
      if (parentId === undefined) this.#spanIds.delete(exception)
      else this.#put(exception, parentId)
    }
  }

  forget(exception: SpanException): void {
    const spanId = this.#spanIds.get(exception)
    if (spanId === undefined) return
    this.#spanIds.delete(exception)
    const siblings = this.#bySpan.get(spanId)
    if (siblings?.delete(exception) && siblings.size === 0) this.#bySpan.delete(spanId)
  }

  #put(exception: SpanException, spanId: string): void {
    this.#spanIds.set(exception, spanId)
    this.#bySpan.set(spanId, (this.#bySpan.get(spanId) ?? new Set()).add(exception))
  }
}

function isSameException(inner: SpanException, outer: SpanException): boolean {
  return inner.trace_id === outer.trace_id && inner.message === outer.message && inner.stack === outer.stack
}
