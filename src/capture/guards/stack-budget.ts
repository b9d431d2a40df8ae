/** Limits the stacks read per second: each costs tens of microseconds, which adds up in a host loop. */
export class StackBudget {
  readonly #now: () => number
  readonly #maxPerSecond: number
  #currentSecond = 0
  #readCount = 0

  constructor(now: () => number, maxPerSecond: number) {
    this.#now = now
    this.#maxPerSecond = maxPerSecond
  }

  /** Whether one more stack can be read. Counts it if so. */
  allows(): boolean {
    const second = Math.floor(this.#now() / 1000)
    if (second !== this.#currentSecond) this.#readCount = 0
    this.#currentSecond = second
    return this.#readCount++ < this.#maxPerSecond
  }
}
