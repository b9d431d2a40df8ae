import { MINUTE } from '../model/time.js'
import { withTimeout } from '../model/with-timeout.js'

/** Durations for all engines; tests use shorter durations. */
export interface Timing {
  /** Lease of a claimed job, renewed while it runs. */
  leaseMs: number
  /** Polling interval of an idle worker. */
  pollMs: number
  /** Time that a stopping worker waits for running jobs. */
  graceMs: number
  /** Timeout after which an engine counts as unreachable. */
  timeoutMs: number
  /** Delay before the first retry. Later retries back off exponentially. */
  retryDelayMs: number
}

export const TIMING: Timing = { leaseMs: 60_000, pollMs: 1000, graceMs: 5000, timeoutMs: 10_000, retryDelayMs: 5000 }

/** Tolerated clock difference between machines. A time further ahead was stored before a clock was set back. */
export const MAX_CLOCK_SKEW_MS = MINUTE

/** Low, because jobs share the host's process and the tracker's few connections. */
export const CONCURRENCY = 4
export const MAX_ATTEMPTS = 5
/** Dead letters to keep for inspection. */
export const MAX_DEAD_LETTERS = 1000

/** Limits how long jobs keep waiting after an outage of a database or receiver has ended. */
const MAX_RETRY_DELAY_MS = 5 * MINUTE

/** Returns the retry delay after `attempt` failed attempts: exponential backoff with jitter. */
export function retryDelay(attempt: number, { retryDelayMs }: Timing, random: () => number): number {
  return Math.round(Math.min(MAX_RETRY_DELAY_MS, retryDelayMs * 4 ** (attempt - 1)) * (0.75 + random() / 2))
}

/** Rejects if the engine does not respond. Keeps the process alive, because a shutdown may wait for the response. */
export function withEngineTimeout<T>(response: Promise<T>, title: string, { timeoutMs }: Timing): Promise<T> {
  const message = `${title} has not responded for ${timeoutMs / 1000} seconds`
  return withTimeout(response, timeoutMs, { message, keepAlive: true })
}
