export interface PauseLimits {
  max_per_second: number
  max_ms_per_second: number
}

/** The first pauses of a process take many times as long as the later ones, and are worth as much. */
const SECONDS_AT_ONCE = 5

/**
 * What reading variables may cost. The time of a few seconds may be spent at once, and is paid off over the next ones,
 * so that the long run holds the limit. Seconds are told from outside: a loop that is late gives no more.
 */
export class PauseBudget {
  readonly #limits: PauseLimits
  #reads = 0
  #spent_ms = 0

  constructor(limits: PauseLimits) {
    this.#limits = limits
  }

  get is_open(): boolean {
    return this.#reads < this.#limits.max_per_second && !this.is_too_dear
  }

  /** Whether it was the time that ran out, and not the number. */
  get is_too_dear(): boolean {
    return this.#spent_ms >= this.#limits.max_ms_per_second * SECONDS_AT_ONCE
  }

  spend(ms: number, has_read: boolean): void {
    this.#spent_ms += ms
    if (has_read) this.#reads++
  }

  nextSecond(): void {
    this.#reads = 0
    this.#spent_ms = Math.max(0, this.#spent_ms - this.#limits.max_ms_per_second)
  }
}
