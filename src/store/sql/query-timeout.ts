/** Timer delay that indicates a blocked event loop. */
const BLOCKED_LOOP_MS = 1000

/** Timeout shared by the queries of one attempt. Applies to each query separately. */
export class QueryTimeout {
  readonly ms: number
  /** Time of the last response or of the start, from `performance.now()`. */
  lastResponseAt = performance.now()
  /** True if a query timed out. */
  hasExpired = false

  constructor(ms: number) {
    this.ms = ms
  }
}

/**
 * Starts a timer and returns the function that cancels it. A blocked event loop extends the time, because an unread
 * response may be waiting.
 */
export function afterInactivity(ms: number, onTimeout: () => void): () => void {
  let timer: NodeJS.Timeout
  const wait = () => {
    const due = performance.now() + ms
    timer = setTimeout(() => {
      if (performance.now() - due > BLOCKED_LOOP_MS) wait()
      else onTimeout()
    }, ms).unref()
  }
  wait()
  return () => clearTimeout(timer)
}
