import { HOUR } from '../../model/time.js'

/** Maximum number of tracked locations. The least recently changed location is evicted. */
const MAX_WATCHED_PLACES = 200

interface Flood {
  hour: number
  signatures: Set<string>
  /** Type of all errors from this location, or MANY_TYPES. */
  error_type: string
}

/** Type of a group shared by errors of different types. The original type precedes each message. */
const MANY_TYPES = 'ManyErrorTypes'

/** Raises the limit for all errors without a location together, because these have little in common. */
const FACTOR_WITHOUT_PLACE = 5

interface SignedError {
  hash_signature: string
  error_type: string
  source?: string | undefined
}

/**
 * Limits the groups that one location creates within an hour by varying the message or type. Further errors of the
 * location share one group.
 */
export class MessageFloods {
  readonly #limit: number
  readonly #floods = new Map<string, Flood>()

  constructor(max_groups_per_place: number) {
    this.#limit = max_groups_per_place
  }

  /**
   * Error type of the shared group for an error beyond the limit; null if the error gets its own group. Errors without a
   * location (an empty `place`) are limited by type, and all together.
   */
  sharedType(place: string, error: SignedError, now: number): string | null {
    const source = error.source ?? ''
    if (place !== '') {
      // Includes the source of a client, so that clients cannot exhaust the limit of a server location.
      return this.#count(source === '' ? place : `${source}\n${place}`, error, now, this.#limit)
    }
    return (
      this.#count(`${source}\n${error.error_type}`, error, now, this.#limit) ??
      this.#count(source, error, now, this.#limit * FACTOR_WITHOUT_PLACE)
    )
  }

  #count(place: string, { hash_signature, error_type }: SignedError, now: number, limit: number): string | null {
    const hour = Math.floor(now / HOUR)
    const flood = this.#floods.get(place)
    if (flood?.hour !== hour) {
      this.#watch(place, { hour, signatures: new Set([hash_signature]), error_type })
      return null
    }
    if (flood.signatures.has(hash_signature)) return null
    // Moves the location to the end of the map, so that the least recently changed location is evicted.
    this.#floods.delete(place)
    this.#floods.set(place, flood)
    if (flood.error_type !== error_type) flood.error_type = MANY_TYPES
    if (flood.signatures.size >= limit) return flood.error_type
    flood.signatures.add(hash_signature)
    return null
  }

  #watch(place: string, flood: Flood): void {
    const [oldest] = this.#floods.keys()
    if (this.#floods.size >= MAX_WATCHED_PLACES && oldest !== undefined) this.#floods.delete(oldest)
    this.#floods.set(place, flood)
  }
}
