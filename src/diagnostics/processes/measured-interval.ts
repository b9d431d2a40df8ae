import { type IntervalHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { gcMilliseconds } from './gc-monitor.js'

/** What a process did in a span of time. */
export interface IntervalFigures {
  span_ms: number
  /** How late the event loop was; null before its first turn was measured. */
  delay_p50_ms: number | null
  delay_p99_ms: number | null
  delay_max_ms: number | null
  /** Share of the time in which the event loop worked. */
  utilisation: number
  /** Processor time by the clock: 1 is a whole processor. */
  cpu: number
  gc_ms: number
}

/** Coarse enough to cost nothing that can be measured. */
const RESOLUTION_MS = 20

/** Measures the event loop, the processor and the pauses of the garbage collector from one look to the next. */
export class MeasuredInterval {
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  #begin = beginning()

  constructor() {
    this.#delay.enable()
  }

  /** The figures so far. */
  read(): IntervalFigures {
    const { at, loop, cpu, gc_ms } = this.#begin
    const span_ms = performance.now() - at
    const used = process.cpuUsage(cpu)
    const is_measured = this.#delay.count > 0
    // The histogram holds the time between two ticks, of which this much is the wait that was asked for.
    const late = (ns: number) => (is_measured ? rounded(Math.max(0, ns / 1e6 - RESOLUTION_MS)) : null)
    return {
      span_ms: Math.round(span_ms),
      delay_p50_ms: late(this.#delay.percentile(50)),
      delay_p99_ms: late(this.#delay.percentile(99)),
      delay_max_ms: late(this.#delay.max),
      utilisation: rounded(performance.eventLoopUtilization(loop).utilization),
      cpu: span_ms > 0 ? rounded((used.user + used.system) / 1000 / span_ms) : 0,
      gc_ms: rounded(Math.max(0, gcMilliseconds() - gc_ms)),
    }
  }

  /** The figures so far, which begin anew. */
  restart(): IntervalFigures {
    const figures = this.read()
    this.#delay.reset()
    this.#begin = beginning()
    return figures
  }

  stop(): void {
    this.#delay.disable()
  }
}

function beginning() {
  return {
    at: performance.now(),
    loop: performance.eventLoopUtilization(),
    cpu: process.cpuUsage(),
    gc_ms: gcMilliseconds(),
  }
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}
