import { freemem, loadavg } from 'node:os'
import { performance } from 'node:perf_hooks'
import type { SystemHealth } from '../../model/system-health.js'
import { heapLimit } from './heap-limit.js'
import { type IntervalMetrics, MeasuredInterval } from './measured-interval.js'

/** Errors within this time share one measurement. */
const CACHE_TTL_MS = 1000
/** Approximate time over which the event loop is measured. */
const WINDOW_MS = 10_000
/** If counting handles takes longer than this, the count is cached for a window. */
const MAX_COUNT_MS = 0.5

/** Measures the process when an error is reported. Takes microseconds, and frequent errors share a measurement. */
export class SystemHealthMeter {
  readonly #interval = new MeasuredInterval()
  readonly #timer: NodeJS.Timeout
  #previousWindow: IntervalMetrics | null = null
  #cached: { health: SystemHealth; expiresAt: number } | null = null
  #handles: { count: number; expiresAt: number } | null = null

  constructor() {
    this.#timer = setInterval(() => {
      this.#previousWindow = this.#interval.restart()
    }, WINDOW_MS).unref()
  }

  read(): SystemHealth {
    const now = performance.now()
    if (this.#cached && now < this.#cached.expiresAt) return this.#cached.health
    const health = Object.freeze(this.#measure(now))
    this.#cached = { health, expiresAt: now + CACHE_TTL_MS }
    return health
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#interval.stop()
  }

  #measure(now: number): SystemHealth {
    const { rss, heapUsed, external } = process.memoryUsage()
    const current = this.#interval.read()
    // A short current window is combined with the previous window.
    const { durationMs, ...loop } =
      this.#previousWindow && current.durationMs < WINDOW_MS / 2
        ? combineWindows(current, this.#previousWindow)
        : current
    return {
      rss_bytes: rss,
      heap_used_bytes: heapUsed,
      heap_limit_bytes: heapLimit(),
      external_bytes: external,
      system_free_bytes: freemem(),
      delay_p50_ms: loop.delay_p50_ms,
      delay_p99_ms: loop.delay_p99_ms,
      delay_max_ms: loop.delay_max_ms,
      utilization: loop.utilization,
      cpu: loop.cpu,
      gc_share: durationMs > 0 ? Math.round((loop.gc_ms / durationMs) * 1000) / 1000 : 0,
      active_resources: this.#countHandles(now),
      load_average: Math.round((loadavg()[0] ?? 0) * 100) / 100,
      uptime_s: Math.round(process.uptime()),
    }
  }

  #countHandles(now: number): number {
    if (this.#handles && now < this.#handles.expiresAt) return this.#handles.count
    const startedAt = performance.now()
    const count = process.getActiveResourcesInfo().length
    const isSlow = performance.now() - startedAt > MAX_COUNT_MS
    this.#handles = { count, expiresAt: isSlow ? now + WINDOW_MS : 0 }
    return count
  }
}

/** Combines two consecutive windows: shares weighted by duration, maximum of the delays. */
function combineWindows(a: IntervalMetrics, b: IntervalMetrics): IntervalMetrics {
  const durationMs = a.durationMs + b.durationMs
  const weightedMean = (x: number, y: number) =>
    Math.round(((x * a.durationMs + y * b.durationMs) / durationMs) * 1000) / 1000
  return {
    durationMs,
    delay_p50_ms: maximum(a.delay_p50_ms, b.delay_p50_ms),
    delay_p99_ms: maximum(a.delay_p99_ms, b.delay_p99_ms),
    delay_max_ms: maximum(a.delay_max_ms, b.delay_max_ms),
    utilization: weightedMean(a.utilization, b.utilization),
    cpu: weightedMean(a.cpu, b.cpu),
    gc_ms: a.gc_ms + b.gc_ms,
  }
}

function maximum(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b)
}
