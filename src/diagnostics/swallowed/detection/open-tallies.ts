import { rowsOf, type Tally, type TallyRow } from './tally.js'

/**
 * The tallies that have something to write. Of those beyond the limit, the ones that were not counted in for longest are
 * given up, and their number is known.
 */
export class OpenTallies {
  readonly #open = new Set<Tally>()
  #lost = 0
  limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  get size(): number {
    return this.#open.size
  }

  touch(tally: Tally): void {
    const is_crowded = this.#open.size > this.limit / 2
    // In the order of their last use; while there is room, that order does not matter.
    if (is_crowded) this.#open.delete(tally)
    this.#open.add(tally)
    if (this.#open.size > this.limit) this.#drop()
  }

  /** Everything that was counted since the last time. */
  take(): { rows: TallyRow[]; lost: number } {
    const rows = [...this.#open].flatMap(rowsOf)
    const lost = this.#lost
    this.#open.clear()
    this.#lost = 0
    return { rows, lost }
  }

  #drop(): void {
    const [oldest] = this.#open
    if (!oldest) return
    this.#open.delete(oldest)
    rowsOf(oldest)
    this.#lost++
  }
}
