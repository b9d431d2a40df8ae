/** Duration for which one late turn counts: the next storm can start before the next measurement. */
const LATE_FOR_MS = 1000

/**
 * Detects event loop lag. Measures only while errors are captured, by scheduling the next turn, so that an idle host
 * pays nothing.
 */
export class LagGuard {
  readonly #late_ms: number
  #asked_at: number | null = null
  #late_until = 0

  /** Delay from which the event loop counts as lagging; null disables the guard. */
  constructor(late_ms: number | null) {
    this.#late_ms = late_ms ?? Number.POSITIVE_INFINITY
  }

  /** Whether details should be omitted for now. */
  isLate(): boolean {
    const now = performance.now()
    if (this.#asked_at === null) {
      this.#asked_at = now
      // Not unref-ed: an idle loop would not run it, and would look late when it wakes up.
      setImmediate(this.#measure)
    } else if (now - this.#asked_at > this.#late_ms) {
      // The scheduled turn is already overdue.
      return true
    }
    return now < this.#late_until
  }

  readonly #measure = (): void => {
    const now = performance.now()
    if (this.#asked_at !== null && now - this.#asked_at > this.#late_ms) this.#late_until = now + LATE_FOR_MS
    this.#asked_at = null
  }
}
