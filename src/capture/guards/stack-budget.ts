/** Limits the stacks read per second: each costs tens of microseconds, which adds up in a loop of the host. */
export class StackBudget {
  readonly #now: () => number
  readonly #most: number
  #second = 0
  #read = 0

  constructor(now: () => number, most_per_second: number) {
    this.#now = now
    this.#most = most_per_second
  }

  /** Whether one more stack can be read. Counts it if so. */
  allows(): boolean {
    const second = Math.floor(this.#now() / 1000)
    if (second !== this.#second) this.#read = 0
    this.#second = second
    return this.#read++ < this.#most
  }
}
