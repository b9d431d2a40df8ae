/** How long one late turn counts: the next storm may come before the loop was measured again. */
const LATE_FOR_MS = 1000

/**
 * Tells when the event loop is late. It measures only while errors are captured, by asking for the next turn and seeing
 * when it comes, so that a quiet host pays nothing.
 */
export class LagGuard {
  readonly #late_ms: number
  #asked_at: number | null = null
  #late_until = 0

  /** A loop that comes round this much too late has more urgent things to do than to describe errors; null: never. */
  constructor(late_ms: number | null) {
    this.#late_ms = late_ms ?? Number.POSITIVE_INFINITY
  }

  /** Whether details should be left out for now. */
  isLate(): boolean {
    const now = performance.now()
    if (this.#asked_at === null) {
      this.#asked_at = now
      // Not unref-ed: a loop that goes to sleep would not run it, and look late when it wakes up.
      setImmediate(this.#measure)
    } else if (now - this.#asked_at > this.#late_ms) {
      // The turn that was asked for is overdue already.
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
