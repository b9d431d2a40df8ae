/** Limits the stacks read per second. A stack costs tens of microseconds, which adds up in a host loop. */
export class StackBudget {
  readonly #now: () => number
  readonly #maxPerSecond: number
  #currentSecond = 0
  #readCount = 0

  constructor(now: () => number, maxPerSecond: number) {
    this.#now = now
    this.#maxPerSecond = maxPerSecond
  }

  /** Counts one more stack. Returns false if the limit is reached. */
  take(): boolean {
    const second = Math.floor(this.#now() / 1000)
    if (second !== this.#currentSecond) this.#readCount = 0
    this.#currentSecond = second
    return this.#readCount++ < this.#maxPerSecond
  }
}
