/** How long one late turn counts as lag, because the next storm can start before the next measurement. */
const LAG_TTL_MS = 1000

/**
 * Detects event loop lag. Measures only while errors are captured, by scheduling the next turn, so that it costs an
 * idle host nothing.
 */
export class LagGuard {
  readonly #thresholdMs: number
  #scheduledAt: number | null = null
  #laggingUntil = 0

  /** Delay from which the event loop counts as lagging; null disables the guard. */
  constructor(thresholdMs: number | null) {
    this.#thresholdMs = thresholdMs ?? Number.POSITIVE_INFINITY
  }

  /** Whether details should be omitted for now. */
  isLagging(): boolean {
    const now = performance.now()
    if (this.#scheduledAt === null) {
      this.#scheduledAt = now
      // Not unref-ed: an idle loop would not run it, and would look late when it wakes up.
      setImmediate(this.#measure)
    } else if (now - this.#scheduledAt > this.#thresholdMs) {
      // The scheduled turn is already overdue.
      return true
    }
    return now < this.#laggingUntil
  }

  readonly #measure = (): void => {
    const now = performance.now()
    if (this.#scheduledAt !== null && now - this.#scheduledAt > this.#thresholdMs) this.#laggingUntil = now + LAG_TTL_MS
    this.#scheduledAt = null
  }
}
