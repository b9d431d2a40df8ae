import { atExit } from '../spool/at-exit.js'
import { type Counting, HourCounts, type HourCountsOptions } from './hour-counts.js'
import type { HourTable } from './hour-table.js'

// biome-ignore lint/suspicious/noExplicitAny: whatever each of them counts.
type AnyCounts = HourCounts<any, any>

/** All sums that a tracker counts in memory: they are written together when it ends, and when its process does. */
export class Tallies {
  readonly #counting: Counting
  readonly #all = new Map<HourTable, AnyCounts>()
  readonly #fills = new Set<() => void>()
  #gave_up = false
  #stopAtExit = () => {}

  constructor(counting: Counting) {
    this.#counting = counting
  }

  /** The sums of a table, made on first use: what is switched off costs nothing, not even a listener. */
  of<Name extends string, Amount extends string>(
    table: HourTable<Name, Amount>,
    options: HourCountsOptions<Name>,
  ): HourCounts<Name, Amount> {
    const known = this.#all.get(table)
    if (known) return known
    if (this.#all.size === 0) {
      process.on('beforeExit', this.#onBeforeExit)
      this.#stopAtExit = atExit('spool', this.#onExit)
    }
    const made = new HourCounts(table, this.#counting, options)
    this.#all.set(table, made)
    return made
  }

  /** Calls back for what is gathered elsewhere, before anything is written; gives the function that ends it. */
  filledBy(fill: () => void): () => void {
    this.#fills.add(fill)
    return () => void this.#fills.delete(fill)
  }

  async flush(): Promise<void> {
    this.#fill()
    await this.#each((counts) => counts.flush())
  }

  async close(): Promise<void> {
    this.#fill()
    await this.#each((counts) => counts.close())
    process.off('beforeExit', this.#onBeforeExit)
    this.#stopAtExit()
  }

  /** What could not be written then is left on disk: trying it again and again would keep the process from ending. */
  readonly #onBeforeExit = (): void => {
    this.#fill()
    if (this.#gave_up || this.#waiting() === 0) return
    void this.#each((counts) => counts.flushAtEnd()).then(() => {
      this.#gave_up = this.#waiting() > 0
    })
  }

  /** The event loop has ended, so nothing but a file can be written. */
  readonly #onExit = (): void => {
    this.#fill()
    for (const counts of this.#all.values()) counts.leave()
  }

  /** At the same time: a database that is away is waited for once, and not once for each. */
  async #each(work: (counts: AnyCounts) => Promise<void>): Promise<void> {
    await Promise.all([...this.#all.values()].map(work))
  }

  #fill(): void {
    for (const fill of this.#fills) fill()
  }

  #waiting(): number {
    return [...this.#all.values()].reduce((sum, { waiting }) => sum + waiting, 0)
  }
}
