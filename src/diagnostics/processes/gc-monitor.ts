import { PerformanceObserver } from 'node:perf_hooks'

/** By the numbers that V8 gives them. */
const KINDS = new Map([
  [1, 'scavenge'],
  [2, 'minor_mark_sweep'],
  [4, 'mark_sweep_compact'],
  [8, 'incremental_marking'],
  [16, 'weak_callbacks'],
])

/** How often the garbage collector ran, and for how long it held the thread. */
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
let since = 0
let total_ms = 0
const kinds = new Map<string, GcKind>()

/** Counts from now on, once for all who ask for it; gives the function that lets go. Nothing is observed otherwise. */
export function holdGcMonitor(): () => void {
  if (holders++ === 0) begin()
  let held = true
  return () => {
    if (held && --holders === 0) end()
    held = false
  }
}

/** What was seen while somebody held the monitor; null when nobody does. */
export function gcState(): GcState | null {
  if (observer === null) return null
  return {
    observed_s: Math.round((performance.now() - since) / 1000),
    total_ms: rounded(total_ms),
    kinds: Object.fromEntries(
      [...kinds].map(([name, { count, total_ms, longest_ms }]) => [
        name,
        { count, total_ms: rounded(total_ms), longest_ms: rounded(longest_ms) },
      ]),
    ),
  }
}

/** Milliseconds of all pauses so far, to be compared with an earlier value. */
export function gcMilliseconds(): number {
  return total_ms
}

function begin(): void {
  since = performance.now()
  total_ms = 0
  kinds.clear()
  observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { duration, detail } = entry as { duration: number; detail?: { kind?: number } }
      const name = KINDS.get(detail?.kind ?? 0) ?? 'other'
      const known = kinds.get(name) ?? { count: 0, total_ms: 0, longest_ms: 0 }
      known.count++
      known.total_ms += duration
      known.longest_ms = Math.max(known.longest_ms, duration)
      kinds.set(name, known)
      total_ms += duration
    }
  })
  observer.observe({ entryTypes: ['gc'] })
}

function end(): void {
  observer?.disconnect()
  observer = null
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}
