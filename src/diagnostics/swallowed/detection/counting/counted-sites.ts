import { parseMark, type Site } from '../site.js'
import type { Tally } from './tallies.js'

/** Tallies of one location by error type. */
export type Tallies = Map<string, Tally>

/** A marked site with the tallies of the errors raised there. */
export interface CountedSite extends Site {
  tallies: Tallies
}

const MAX_TYPES_PER_LOCATION = 50

/** Sites of all executed marks, and unmarked locations found in stacks. */
export class CountedSites {
  readonly #marked = new Map<string, CountedSite>()
  readonly #unmarked = new Map<string, Tallies>()

  forMark(mark: string): CountedSite {
    let site = this.#marked.get(mark)
    if (!site) {
      site = { ...parseMark(mark), tallies: new Map() }
      this.#marked.set(mark, site)
    }
    return site
  }

  /** Returns the tallies of an unmarked location. Forgets all unmarked locations when `limit` is reached. */
  talliesAt(location: string, limit: number): Tallies {
    let tallies = this.#unmarked.get(location)
    if (!tallies) {
      tallies = new Map()
      if (this.#unmarked.size >= limit) this.#unmarked.clear()
      this.#unmarked.set(location, tallies)
    }
    return tallies
  }
}

/** Returns the tally of an error type for the current hour. */
export function currentTally(tallies: Tallies, key: Pick<Tally, 'hour' | 'errorType' | 'raiseLocation'>): Tally {
  const existing = tallies.get(key.errorType)
  if (existing?.hour === key.hour) return existing
  if (tallies.size >= MAX_TYPES_PER_LOCATION) tallies.clear()
  const created: Tally = { ...key, raised: 0, reported: 0, rescues: new Map() }
  tallies.set(key.errorType, created)
  return created
}
