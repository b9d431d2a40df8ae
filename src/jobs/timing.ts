import { MINUTE } from '../model/time.js'
import { withTimeout } from '../model/with-timeout.js'

/** Durations for all engines; tests use shorter ones. */
export interface Timing {
  /** Lease of a claimed job, renewed while it runs. */
  lease_ms: number
  /** Polling interval of an idle worker. */
  poll_ms: number
  /** Time that a stopping worker waits for running jobs. */
  grace_ms: number
  /** Timeout after which an engine counts as unreachable. */
  patience_ms: number
  /** Delay before the second attempt; later delays grow from it. */
  pause_ms: number
}

export const TIMING: Timing = { lease_ms: 60_000, poll_ms: 1000, grace_ms: 5000, patience_ms: 10_000, pause_ms: 5000 }

/** Low, because jobs share the host's process and the tracker's few connections. */
export const CONCURRENCY = 4
export const MAX_ATTEMPTS = 5
/** Dead letters to keep for inspection. */
export const MAX_DEAD_LETTERS = 1000

/** Jobs that wait for a database or a receiver must not wait much longer than the outage lasts. */
const LONGEST_PAUSE = 5 * MINUTE

/** Delay after this many failed attempts: grows by a factor of four, with jitter. */
export function pauseAfter(attempt: number, { pause_ms }: Timing, random: () => number): number {
  return Math.round(Math.min(LONGEST_PAUSE, pause_ms * 4 ** (attempt - 1)) * (0.75 + random() / 2))
}

/** Rejects if the engine does not respond. Keeps the process alive, because a shutdown may wait for the response. */
export function respondingInTime<T>(response: Promise<T>, title: string, { patience_ms }: Timing): Promise<T> {
  const message = `${title} has not answered for ${patience_ms / 1000} seconds`
  return withTimeout(response, patience_ms, { message, keepAlive: true })
}
