import { MINUTE } from '../model/time.js'
import { withTimeout } from '../model/with-timeout.js'

/** How long things may take, the same for every engine; tests make them shorter. */
export interface Timing {
  /** For so long a job belongs to the worker that took it; kept up while it runs. */
  lease_ms: number
  /** How often an idle worker looks for jobs of other processes. */
  poll_ms: number
  /** How long a stopping worker waits for what is being done. */
  grace_ms: number
  /** An engine that says nothing for so long counts as away. */
  patience_ms: number
  /** The pause before the second try; the later ones grow from it. */
  pause_ms: number
}

export const TIMING: Timing = { lease_ms: 60_000, poll_ms: 1000, grace_ms: 5000, patience_ms: 10_000, pause_ms: 5000 }

/** Few at a time: they share the host's process and the tracker's few connections. */
export const CONCURRENCY = 4
export const MAX_ATTEMPTS = 5
/** Dead letters that are kept for people to look at. */
export const MAX_DEAD_LETTERS = 1000

/** What waits for a database or a receiver must not wait much longer than that does. */
const LONGEST_PAUSE = 5 * MINUTE

/** How long to wait after so many failed tries: four times as long each time, and never at the same instant as others. */
export function pauseAfter(attempt: number, { pause_ms }: Timing, random: () => number): number {
  return Math.round(Math.min(LONGEST_PAUSE, pause_ms * 4 ** (attempt - 1)) * (0.75 + random() / 2))
}

/** Rejects if the engine does not respond. Keeps the process alive, because a shutdown may wait for the response. */
export function respondingInTime<T>(response: Promise<T>, title: string, { patience_ms }: Timing): Promise<T> {
  const message = `${title} has not answered for ${patience_ms / 1000} seconds`
  return withTimeout(response, patience_ms, { message, keepAlive: true })
}
