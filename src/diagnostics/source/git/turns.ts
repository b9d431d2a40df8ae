/**
 * Lets only so many do something at once, in the order in which they came.
 *
 * @example
 * if (await turns.take()) await work().finally(() => turns.give())
 */
export class Turns {
  readonly #at_once: number
  readonly #most_waiting: number
  readonly #waiting: (() => void)[] = []
  #taken = 0

  constructor({ at_once, most_waiting }: { at_once: number; most_waiting: number }) {
    this.#at_once = at_once
    this.#most_waiting = most_waiting
  }

  /** Resolves once it is one's turn; with false, at once, where too many wait already. */
  async take(): Promise<boolean> {
    if (this.#taken < this.#at_once) {
      this.#taken++
      return true
    }
    if (this.#waiting.length >= this.#most_waiting) return false
    await new Promise<void>((resume) => this.#waiting.push(resume))
    return true
  }

  give(): void {
    // Whoever waits takes the place over: freed first, it could be taken by another before.
    const next = this.#waiting.shift()
    if (next) next()
    else this.#taken--
  }
}
