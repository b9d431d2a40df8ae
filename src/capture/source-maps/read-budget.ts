import type { Context } from '../../context.js'
import { MINUTE } from '../../model/time.js'

/** So many times the largest map is read in a minute: a client that names ever other scripts must not keep us at it. */
const READS_A_MINUTE = 10

/** What of maps and sources is read anew in a minute. */
export class ReadBudget {
  readonly #context: Context
  #since = 0
  #bytes = 0

  constructor(context: Context) {
    this.#context = context
  }

  /** Whether there is room for so much more, which is taken to be read then. */
  take(bytes: number): boolean {
    const { now, config } = this.#context
    if (Math.abs(now() - this.#since) >= MINUTE) {
      this.#since = now()
      this.#bytes = 0
    }
    this.#bytes += bytes
    return this.#bytes <= READS_A_MINUTE * config.source_map_max_bytes
  }
}
