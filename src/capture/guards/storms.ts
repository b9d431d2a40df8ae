import { MINUTE } from '../../model/time.js'

/**
 * Above the limit, one in this many occurrences is stored in full. Multiplied again at ten times the limit, and so on.
 */
const SAMPLING_FACTOR = 10
const MAX_TRACKED_ERRORS = 10_000

interface Storm {
  minute: number
  count: number
}

/**
 * Detects storms of the same error. Above the limit per minute, one in ten is stored in full; above ten times the
 * limit, one in a hundred. All are counted.
 */
export class Storms {
  readonly #limit: number
  #storms = new Map<string, Storm>()

  constructor(max_full_per_minute: number) {
    this.#limit = max_full_per_minute
  }

  /** Counts an occurrence. Returns true if the occurrence should not be stored in full. */
  isOnlyCounted(hash_signature: string, now: number): boolean {
    const minute = Math.floor(now / MINUTE)
    const storm = this.#storms.get(hash_signature)
    if (storm?.minute !== minute) {
      this.#remember(hash_signature, { minute, count: 1 })
      return false
    }
    const count = ++storm.count
    if (count <= this.#limit) return false
    let interval = SAMPLING_FACTOR
    for (let limit = this.#limit * SAMPLING_FACTOR; count > limit; limit *= SAMPLING_FACTOR) interval *= SAMPLING_FACTOR
    return count % interval !== 0
  }

  #remember(hash_signature: string, storm: Storm): void {
    if (this.#storms.size >= MAX_TRACKED_ERRORS) this.#storms = new Map()
    this.#storms.set(hash_signature, storm)
  }
}
