import { HOUR } from '../../model/time.js'

/** Places that are watched at a time; the oldest is forgotten for a new one. */
const WATCHED = 200

interface Flood {
  hour: number
  signatures: Set<string>
}

/**
 * Keeps messages that never repeat (a text with ids our normaliser does not know) from becoming a group each: once a
 * place has made so many groups within an hour, its further messages share one.
 */
export class MessageFloods {
  readonly #limit: number
  readonly #floods = new Map<string, Flood>()

  constructor(max_groups_per_place: number) {
    this.#limit = max_groups_per_place
  }

  /** Whether this signature is one too many for its place. */
  isFlooded(place: string, hash_signature: string, now: number): boolean {
    const hour = Math.floor(now / HOUR)
    const flood = this.#floods.get(place)
    if (flood?.hour !== hour) {
      this.#watch(place, { hour, signatures: new Set([hash_signature]) })
      return false
    }
    if (flood.signatures.has(hash_signature)) return false
    if (flood.signatures.size >= this.#limit) return true
    flood.signatures.add(hash_signature)
    return false
  }

  #watch(place: string, flood: Flood): void {
    const [oldest] = this.#floods.keys()
    if (this.#floods.size >= WATCHED && oldest !== undefined) this.#floods.delete(oldest)
    this.#floods.set(place, flood)
  }
}
