import { logError } from '../capture/log-error.js'
import { DelayedReports } from '../capture/sources/delayed-reports.js'
import type { Reporter } from '../capture/sources/source.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'
import { NestedExceptions } from './nested-exceptions.js'
import { readExceptions, type SpanException, type SpanLike } from './span-exceptions.js'

export interface SpanProcessorOptions {
  /** Default: the default tracker. */
  tracker?: TrackerInstance
  /** Returns true to record an exception on a span. By default, records every exception. */
  accept?(exception: { error_type: string; message: string }, span: SpanLike): boolean
}

/** Delay that gives precedence to a framework hook, which may report the same error with more details. */
const HOOK_DELAY_MS = 1000

/**
 * Records exceptions on spans (`span.recordException(error)`), unless a hook records the same error. Ignores
 * spans without exceptions. Controlled by `enable_error_subscriber`.
 * @example new NodeTracerProvider({ spanProcessors: [new FaultboardSpanProcessor()] }).register()
 */
export class FaultboardSpanProcessor {
  readonly #tracker: TrackerInstance
  readonly #accept: SpanProcessorOptions['accept']
  readonly #delayedReports = new DelayedReports(HOOK_DELAY_MS)
  readonly #pendingExceptions = new NestedExceptions()
  #reporter: Reporter | null = null
  #detach = () => {}

  constructor({ tracker = Tracker, accept }: SpanProcessorOptions = {}) {
    this.#tracker = tracker
    this.#accept = accept
  }

  onStart(): void {}

  /** Never throws: it is called from the host's own `span.end()`. */
  onEnd(span: SpanLike): void {
    if (span.events.length === 0 && this.#pendingExceptions.isEmpty()) return
    try {
      for (const exception of readExceptions(span)) if (this.#isAccepted(exception, span)) this.#recordLater(exception)
      this.#pendingExceptions.passToParent(span)
    } catch (error) {
      this.#tracker.intake.failed(error)
    }
  }

  /** Sends pending reports. */
  async forceFlush(): Promise<void> {
    this.#delayedReports.sendAll()
  }

  async shutdown(): Promise<void> {
    this.#delayedReports.sendAll()
    this.#detach()
  }

  #isAccepted({ error_type, message }: SpanException, span: SpanLike): boolean {
    return this.#accept?.({ error_type, message }, span) !== false
  }

  #recordLater(exception: SpanException): void {
    const { context } = this.#attachReporter()
    if (!context.config.enable_error_subscriber) return
    if (this.#pendingExceptions.has(exception)) {
      context.counters.add(ALREADY_RECORDED)
      return
    }
    this.#pendingExceptions.add(exception)
    const { trace_id, message } = exception
    const endedAt = context.now()
    this.#delayedReports.add(() => {
      this.#pendingExceptions.forget(exception)
      if (context.traces.isLogged(trace_id, message, endedAt)) context.counters.add(ALREADY_RECORDED)
      else void logError(context, exception.input)
    })
  }

  /** Attaches on the first exception, because the provider is often created before the tracker is configured. */
  #attachReporter(): Reporter {
    if (this.#reporter) return this.#reporter
    let reporter: Reporter | null = null
    this.#detach = this.#tracker.attach((attachedReporter) => {
      reporter = attachedReporter
      return () => {
        this.#delayedReports.sendAll()
        this.#reporter = null
      }
    })
    if (!reporter) throw new Error('the tracker rejected the span processor')
    this.#reporter = reporter
    return reporter
  }
}

const ALREADY_RECORDED = 'otel_already_recorded'
