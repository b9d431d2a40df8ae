import { freemem, loadavg } from 'node:os'
import { performance } from 'node:perf_hooks'
import type { SystemHealth } from '../../model/system-health.js'
import { heapLimit } from './heap-limit.js'
import { type IntervalFigures, MeasuredInterval } from './measured-interval.js'

/** Errors that come closer to each other than this share one look at the process. */
const SHARED_MS = 1000
/** What is said of the event loop is said of about this long. */
const WINDOW_MS = 10_000
/** Counting handles takes longer the more there are; when it takes longer than this, an old count will do. */
const COSTLY_MS = 0.5

/** How the process is doing at the moment of an error. A look costs some microseconds, and most errors share one. */
export class SystemHealthMeter {
  readonly #interval = new MeasuredInterval()
  readonly #timer: NodeJS.Timeout
  #last: IntervalFigures | null = null
  #shared: { health: SystemHealth; until: number } | null = null
  #handles: { count: number; until: number } | null = null

  constructor() {
    this.#timer = setInterval(() => {
      this.#last = this.#interval.restart()
    }, WINDOW_MS).unref()
  }

  read(): SystemHealth {
    const now = performance.now()
    if (this.#shared && now < this.#shared.until) return this.#shared.health
    const health = Object.freeze(this.#look(now))
    this.#shared = { health, until: now + SHARED_MS }
    return health
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#interval.stop()
  }

  #look(now: number): SystemHealth {
    const { rss, heapUsed, external } = process.memoryUsage()
    const current = this.#interval.read()
    // A window that has just begun knows little; what the one before knew is not long ago.
    const { span_ms, ...loop } = this.#last && current.span_ms < WINDOW_MS / 2 ? worse(current, this.#last) : current
    return {
      rss_bytes: rss,
      heap_used_bytes: heapUsed,
      heap_limit_bytes: heapLimit(),
      external_bytes: external,
      system_free_bytes: freemem(),
      delay_p50_ms: loop.delay_p50_ms,
      delay_p99_ms: loop.delay_p99_ms,
      delay_max_ms: loop.delay_max_ms,
      utilisation: loop.utilisation,
      cpu: loop.cpu,
      gc_share: span_ms > 0 ? Math.round((loop.gc_ms / span_ms) * 1000) / 1000 : 0,
      active_resources: this.#countHandles(now),
      load_average: Math.round((loadavg()[0] ?? 0) * 100) / 100,
      uptime_s: Math.round(process.uptime()),
    }
  }

  #countHandles(now: number): number {
    if (this.#handles && now < this.#handles.until) return this.#handles.count
    const started = performance.now()
    const count = process.getActiveResourcesInfo().length
    const is_costly = performance.now() - started > COSTLY_MS
    this.#handles = { count, until: is_costly ? now + WINDOW_MS : 0 }
    return count
  }
}

/** Of two windows that follow each other, as one: times and shares by their length, the delays by the later of both. */
function worse(a: IntervalFigures, b: IntervalFigures): IntervalFigures {
  const span_ms = a.span_ms + b.span_ms
  const share = (x: number, y: number) => Math.round(((x * a.span_ms + y * b.span_ms) / span_ms) * 1000) / 1000
  return {
    span_ms,
    delay_p50_ms: greater(a.delay_p50_ms, b.delay_p50_ms),
    delay_p99_ms: greater(a.delay_p99_ms, b.delay_p99_ms),
    delay_max_ms: greater(a.delay_max_ms, b.delay_max_ms),
    utilisation: share(a.utilisation, b.utilisation),
    cpu: share(a.cpu, b.cpu),
    gc_ms: a.gc_ms + b.gc_ms,
  }
}

function greater(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b)
}
