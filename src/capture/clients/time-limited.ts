import { withTimeout } from '../../model/with-timeout.js'

/** Even a busy database reads one row faster than this. Acceptable as the delay of a report. */
const TIME_LIMIT_MS = 5000
/** How long queries fail immediately after a failure, so that not every client error waits for its own timeout. */
const FAILURE_PAUSE_MS = 10_000

/** Runs a query with a time limit. After a failure, rejects immediately for a while, so callers need a fallback. */
export type TimeLimitedRunner = <T>(query: () => Promise<T>) => Promise<T>

export function createTimeLimitedRunner(): TimeLimitedRunner {
  let pausedUntil = Number.NEGATIVE_INFINITY
  return async (query) => {
    if (performance.now() < pausedUntil) throw new Error('the database did not respond to a recent query')
    try {
      return await withTimeout(query(), TIME_LIMIT_MS)
    } catch (error) {
      pausedUntil = performance.now() + FAILURE_PAUSE_MS
      throw error
    }
  }
}
