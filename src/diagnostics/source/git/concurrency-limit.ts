/**
 * Limits the number of concurrent tasks. Waiting tasks run in order of arrival.
 *
 * @example
 * if (await limit.acquire()) await work().finally(() => limit.release())
 */
export class ConcurrencyLimit {
  readonly #maxRunning: number
  readonly #maxWaiting: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor({ maxRunning, maxWaiting }: { maxRunning: number; maxWaiting: number }) {
    this.#maxRunning = maxRunning
    this.#maxWaiting = maxWaiting
  }

  /** Resolves to true when the task may run, or immediately to false if too many tasks wait. */
  async acquire(): Promise<boolean> {
    if (this.#running < this.#maxRunning) {
      this.#running++
      return true
    }
    if (this.#waiting.length >= this.#maxWaiting) return false
    await new Promise<void>((resume) => this.#waiting.push(resume))
    return true
  }

  release(): void {
    // Passes the slot on directly. Otherwise a new task could take the slot before the waiting task.
    const next = this.#waiting.shift()
    if (next) next()
    else this.#running--
  }
}
