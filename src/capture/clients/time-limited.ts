import { withTimeout } from '../../model/with-timeout.js'

/** Longer than a busy database takes for one row; a client can wait this long once. */
const TIME_LIMIT_MS = 5000
/** After a failure, queries fail at once for this long. Otherwise every client error would wait for its own timeout. */
const FAILURE_PAUSE_MS = 10_000

/** Runs queries that have a fallback, while the database responds. */
export type TimeLimited = <T>(query: () => Promise<T>) => Promise<T>

export function createTimeLimited(): TimeLimited {
  let pausedUntil = Number.NEGATIVE_INFINITY
  return async (query) => {
    if (performance.now() < pausedUntil) throw new Error('the database did not respond a moment ago')
    try {
      return await withTimeout(query(), TIME_LIMIT_MS)
    } catch (error) {
      pausedUntil = performance.now() + FAILURE_PAUSE_MS
      throw error
    }
  }
}
