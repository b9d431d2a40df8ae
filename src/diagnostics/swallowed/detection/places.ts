import { type Site, siteOf } from './site.js'
import type { Tally } from './tally.js'

/** What was counted in one place, by type. */
export type Tallies = Map<string, Tally>

/** A marked place, and what was raised there. */
export interface Place extends Site {
  tallies: Tallies
}

const TYPES_PER_PLACE = 50

/** The places that were met: those of marks, and those that only a stack has told of. */
export class Places {
  readonly #marked = new Map<string, Place>()
  readonly #elsewhere = new Map<string, Tallies>()

  of(mark: string): Place {
    let place = this.#marked.get(mark)
    if (!place) {
      place = { ...siteOf(mark), tallies: new Map() }
      this.#marked.set(mark, place)
    }
    return place
  }

  /** For a place without a mark, of which there are at most so many. */
  talliesAt(location: string, limit: number): Tallies {
    let tallies = this.#elsewhere.get(location)
    if (!tallies) {
      tallies = new Map()
      if (this.#elsewhere.size >= limit) this.#elsewhere.clear()
      this.#elsewhere.set(location, tallies)
    }
    return tallies
  }
}

/** The tally of a type in this hour. */
export function tallyIn(tallies: Tallies, key: Pick<Tally, 'hour' | 'error_type' | 'raise_location'>): Tally {
  const known = tallies.get(key.error_type)
  if (known?.hour === key.hour) return known
  if (tallies.size >= TYPES_PER_PLACE) tallies.clear()
  const made: Tally = { ...key, raised: 0, reported: 0, rescues: new Map() }
  tallies.set(key.error_type, made)
  return made
}
