import type { SpanException, SpanLike } from './span-exceptions.js'

/**
 * Tracks exceptions across nested spans. A rethrown exception can be recorded on every enclosing span, but is one
 * error. Exceptions of two attempts are on sibling spans. Spans end from the inside out, so each ended span passes its
 * exceptions to its parent. Without waiting exceptions, no span is inspected.
 */
export class RisingExceptions {
  readonly #by_span = new Map<string, Set<SpanException>>()
  readonly #spans = new Map<SpanException, string>()

  isEmpty(): boolean {
    return this.#spans.size === 0
  }

  /** Whether the same exception is already on this span, or came from an inner span. */
  has(exception: SpanException): boolean {
    for (const known of this.#by_span.get(exception.span_id) ?? []) if (isSame(known, exception)) return true
    return false
  }

  add(exception: SpanException): void {
    this.#put(exception, exception.span_id)
  }

  /** Passes the exceptions of an ended span to its parent. */
  rise(span: SpanLike): void {
    const { spanId } = span.spanContext()
    const risen = this.#by_span.get(spanId)
    if (!risen) return
    this.#by_span.delete(spanId)
    const above = span.parentSpanContext?.spanId ?? span.parentSpanId
    for (const exception of risen) {
      if (above === undefined) this.#spans.delete(exception)
      else this.#put(exception, above)
    }
  }

  forget(exception: SpanException): void {
    const span_id = this.#spans.get(exception)
    if (span_id === undefined) return
    this.#spans.delete(exception)
    const beside = this.#by_span.get(span_id)
    if (beside?.delete(exception) && beside.size === 0) this.#by_span.delete(span_id)
  }

  #put(exception: SpanException, span_id: string): void {
    this.#spans.set(exception, span_id)
    this.#by_span.set(span_id, (this.#by_span.get(span_id) ?? new Set()).add(exception))
  }
}

function isSame(inner: SpanException, outer: SpanException): boolean {
  return inner.trace_id === outer.trace_id && inner.message === outer.message && inner.stack === outer.stack
}
