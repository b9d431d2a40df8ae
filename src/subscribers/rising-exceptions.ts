import type { SpanException, SpanLike } from './span-exceptions.js'

/**
 * Exceptions on their way up: one that is thrown on may be recorded on every span around the first, and is one error all
 * the same. Those of two attempts are on spans beside each other. Spans end from the inside out, so that each one
 * that ends tells where the exceptions below it arrive next; while none waits, no span is looked at.
 */
export class RisingExceptions {
  readonly #by_span = new Map<string, Set<SpanException>>()
  readonly #spans = new Map<SpanException, string>()

  isEmpty(): boolean {
    return this.#spans.size === 0
  }

  /** Whether the same exception is on this span already, or came from one below. */
  has(exception: SpanException): boolean {
    for (const known of this.#by_span.get(exception.span_id) ?? []) if (isSame(known, exception)) return true
    return false
  }

  add(exception: SpanException): void {
    this.#put(exception, exception.span_id)
  }

  /** The span has ended: what is on it, or came from below, arrives at its parent next. */
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
