/** A timer that fires this late was held up by the event loop. */
const BLOCKED_LOOP_MS = 1000

/** How long the queries of one attempt wait for a response each. */
export class Patience {
  readonly ms: number
  /** By `performance.now()`: the last response, or the start. */
  heardAt = performance.now()
  /** Whether a query was given up because the database did not respond. */
  isExhausted = false

  constructor(ms: number) {
    this.ms = ms
  }
}

/**
 * Calls back after the given time and returns the function that cancels the call. A blocked event loop extends the time:
 * a response may have arrived that is not read yet.
 */
export function afterSilence(ms: number, onSilence: () => void): () => void {
  let timer: NodeJS.Timeout
  const wait = () => {
    const due = performance.now() + ms
    timer = setTimeout(() => {
      if (performance.now() - due > BLOCKED_LOOP_MS) wait()
      else onSilence()
    }, ms).unref()
  }
  wait()
  return () => clearTimeout(timer)
}
