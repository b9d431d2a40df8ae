export interface PauseLimits {
  maxPerSecond: number
  maxMsPerSecond: number
}

/** Seconds of budget available at once, because the first pauses of a process take much longer than later pauses. */
const BURST_SECONDS = 5

/**
 * Limits the number and duration of pauses. A burst may use the time of several seconds, which later seconds compensate.
 * `startNextSecond` is called by a timer, so a delayed event loop adds no budget.
 */
export class PauseBudget {
  readonly #limits: PauseLimits
  #reads = 0
  #spentMs = 0

  constructor(limits: PauseLimits) {
    this.#limits = limits
  }

  get isOpen(): boolean {
    return this.#reads < this.#limits.maxPerSecond && !this.hasReachedTimeLimit
  }

  /** True if the time limit is reached. Otherwise only the number of reads can close the budget. */
  get hasReachedTimeLimit(): boolean {
    return this.#spentMs >= this.#limits.maxMsPerSecond * BURST_SECONDS
  }

  spend(ms: number, hasRead: boolean): void {
    this.#spentMs += ms
    if (hasRead) this.#reads++
  }

  startNextSecond(): void {
    this.#reads = 0
    this.#spentMs = Math.max(0, this.#spentMs - this.#limits.maxMsPerSecond)
  }
}
