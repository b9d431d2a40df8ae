import { type IntervalHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { totalGcMs } from './gc-monitor.js'

/** Metrics of a process over an interval. */
export interface IntervalMetrics {
  durationMs: number
  /** Delay of the event loop. Null before the first measurement. */
  delay_p50_ms: number | null
  delay_p99_ms: number | null
  delay_max_ms: number | null
  /** Share of the time in which the event loop was busy. */
  utilization: number
  /** CPU time per elapsed time. 1 is one full core. */
  cpu: number
  gc_ms: number
}

/** Coarse enough to have no measurable cost. */
const RESOLUTION_MS = 20

/** Measures event loop, CPU and garbage collection since the last restart. */
export class MeasuredInterval {
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  #baseline = readBaseline()

  constructor() {
    this.#delay.enable()
  }

  read(): IntervalMetrics {
    const { startedAt, loop, cpu, gcMs } = this.#baseline
    const durationMs = performance.now() - startedAt
    const cpuUsage = process.cpuUsage(cpu)
    const hasSamples = this.#delay.count > 0
    // The histogram contains the time between two ticks, including the requested interval.
    const toDelayMs = (ns: number) => (hasSamples ? roundTo3(Math.max(0, ns / 1e6 - RESOLUTION_MS)) : null)
    return {
      durationMs: Math.round(durationMs),
      delay_p50_ms: toDelayMs(this.#delay.percentile(50)),
      delay_p99_ms: toDelayMs(this.#delay.percentile(99)),
      delay_max_ms: toDelayMs(this.#delay.max),
      utilization: roundTo3(performance.eventLoopUtilization(loop).utilization),
      cpu: durationMs > 0 ? roundTo3((cpuUsage.user + cpuUsage.system) / 1000 / durationMs) : 0,
      gc_ms: roundTo3(Math.max(0, totalGcMs() - gcMs)),
    }
  }

  /** Returns the metrics of the interval and starts a new interval. */
  restart(): IntervalMetrics {
    const metrics = this.read()
    this.#delay.reset()
    this.#baseline = readBaseline()
    return metrics
  }

  stop(): void {
    this.#delay.disable()
  }
}

function readBaseline() {
  return {
    startedAt: performance.now(),
    loop: performance.eventLoopUtilization(),
    cpu: process.cpuUsage(),
    gcMs: totalGcMs(),
  }
}

function roundTo3(value: number): number {
  return Math.round(value * 1000) / 1000
}
