/** Duration for which one late turn counts as lag. Covers a storm that starts before the next measurement. */
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

  /** Returns true while details should be omitted. */
  isLagging(): boolean {
    const now = performance.now()
    if (this.#scheduledAt === null) {
      this.#scheduledAt = now
      // Not unref'd: an idle event loop would delay the callback, and the delay would count as lag.
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
