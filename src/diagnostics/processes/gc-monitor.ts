import { PerformanceObserver } from 'node:perf_hooks'

/** Names of the kinds of garbage collection by their number in V8. */
const KIND_NAMES = new Map([
  [1, 'scavenge'],
  [2, 'minor_mark_sweep'],
  [4, 'mark_sweep_compact'],
  [8, 'incremental_marking'],
  [16, 'weak_callbacks'],
])

/** Number and duration of the pauses of one kind. */
export interface GcKind {
  count: number
  total_ms: number
  longest_ms: number
}

export interface GcState {
  observed_s: number
  total_ms: number
  kinds: Record<string, GcKind>
}

let observer: PerformanceObserver | null = null
let holders = 0
let startedAt = 0
let totalMs = 0
const kinds = new Map<string, GcKind>()

/** Starts the shared monitor on first use. Returns the function that releases it; the last release stops it. */
export function holdGcMonitor(): () => void {
  if (holders++ === 0) start()
  let isHeld = true
  return () => {
    if (isHeld && --holders === 0) stop()
    isHeld = false
  }
}

/** Returns the pauses since the monitor started, or null while it is stopped. */
export function gcState(): GcState | null {
  if (observer === null) return null
  return {
    observed_s: Math.round((performance.now() - startedAt) / 1000),
    total_ms: roundMs(totalMs),
    kinds: Object.fromEntries(
      [...kinds].map(([name, { count, total_ms, longest_ms }]) => [
        name,
        { count, total_ms: roundMs(total_ms), longest_ms: roundMs(longest_ms) },
      ]),
    ),
  }
}

/** Returns the total duration of all pauses, to be compared with an earlier value. */
export function totalGcMs(): number {
  return totalMs
}

function start(): void {
  startedAt = performance.now()
  totalMs = 0
  kinds.clear()
  observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { duration, detail } = entry as { duration: number; detail?: { kind?: number } }
      const name = KIND_NAMES.get(detail?.kind ?? 0) ?? 'other'
      const kind = kinds.get(name) ?? { count: 0, total_ms: 0, longest_ms: 0 }
      kind.count++
      kind.total_ms += duration
      kind.longest_ms = Math.max(kind.longest_ms, duration)
      kinds.set(name, kind)
      totalMs += duration
    }
  })
  observer.observe({ entryTypes: ['gc'] })
}

function stop(): void {
  observer?.disconnect()
  observer = null
}

function roundMs(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}
