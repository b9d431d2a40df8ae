import { MINUTE } from '../../model/time.js'

/** One in this many is stored in full, for each factor of ten above the limit per minute. */
const THINNING_FACTOR = 10
const MAX_REMEMBERED = 10_000

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

  /** Whether this occurrence is only counted. */
  isThinned(hash_signature: string, now: number): boolean {
    const minute = Math.floor(now / MINUTE)
    const storm = this.#storms.get(hash_signature)
    if (storm?.minute !== minute) {
      this.#remember(hash_signature, { minute, count: 1 })
      return false
    }
    const count = ++storm.count
    if (count <= this.#limit) return false
    let interval = THINNING_FACTOR
    for (let limit = this.#limit * THINNING_FACTOR; count > limit; limit *= THINNING_FACTOR) interval *= THINNING_FACTOR
    return count % interval !== 0
  }

  #remember(hash_signature: string, storm: Storm): void {
    if (this.#storms.size >= MAX_REMEMBERED) this.#storms = new Map()
    this.#storms.set(hash_signature, storm)
  }
}
