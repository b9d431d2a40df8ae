/** How many stacks may be read in each second: one costs tens of microseconds, which a host in a loop would feel. */
export class StackBudget {
  readonly #now: () => number
  readonly #most: number
  #second = 0
  #read = 0

  constructor(now: () => number, most_per_second: number) {
    this.#now = now
    this.#most = most_per_second
  }

  /** Whether one more may be read, which then counts. */
  allows(): boolean {
    const second = Math.floor(this.#now() / 1000)
    if (second !== this.#second) this.#read = 0
    this.#second = second
    return this.#read++ < this.#most
  }
}
