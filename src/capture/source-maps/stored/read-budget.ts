import type { Context } from '../../../context.js'
import { MINUTE } from '../../../model/time.js'

/**
 * Limit per minute, as a multiple of the largest map. Prevents clients that keep reporting new scripts from keeping the
 * process busy.
 */
const MAX_READS_PER_MINUTE = 10

/** Limits the bytes of maps and sources read per minute. */
export class ReadBudget {
  readonly #context: Context
  #periodStart = 0
  #bytes = 0

  constructor(context: Context) {
    this.#context = context
  }

  /** Counts an amount to read. Returns false if the amount exceeds the limit. */
  take(bytes: number): boolean {
    const { now, config } = this.#context
    if (Math.abs(now() - this.#periodStart) >= MINUTE) {
      this.#periodStart = now()
      this.#bytes = 0
    }
    this.#bytes += bytes
    return this.#bytes <= MAX_READS_PER_MINUTE * config.source_map_max_bytes
  }
}
