import { atExit } from '../spool/at-exit.js'
import type { HourTable } from './define-hour-table.js'
import { type CountingContext, HourCounts, type HourCountsOptions } from './hour-counts.js'

// biome-ignore lint/suspicious/noExplicitAny: each table has different names and amounts.
type AnyCounts = HourCounts<any, any>

/** All hourly counts of a tracker. They are written together at shutdown and at process exit. */
export class Tallies {
  readonly #counting: CountingContext
  readonly #all = new Map<HourTable, AnyCounts>()
  readonly #beforeFlush = new Set<() => void>()
  #hasGivenUp = false
  #stopAtExit = () => {}

  constructor(counting: CountingContext) {
    this.#counting = counting
  }

  /** Returns the counts of a table. Created on first use, so that disabled features cost nothing. */
  forTable<Name extends string, Amount extends string>(
    table: HourTable<Name, Amount>,
    options: HourCountsOptions<Name>,
  ): HourCounts<Name, Amount> {
    const known = this.#all.get(table)
    if (known) return known
    if (this.#all.size === 0) {
      process.on('beforeExit', this.#onBeforeExit)
      this.#stopAtExit = atExit('spool', this.#onExit)
    }
    const counts = new HourCounts(table, this.#counting, options)
    this.#all.set(table, counts)
    return counts
  }

  /** Registers a callback that adds counts gathered elsewhere before each flush. Returns the function that removes it. */
  beforeFlush(callback: () => void): () => void {
    this.#beforeFlush.add(callback)
    return () => void this.#beforeFlush.delete(callback)
  }

  async flush(): Promise<void> {
    this.#runCallbacks()
    await this.#forEach((counts) => counts.flush())
  }

  async close(): Promise<void> {
    this.#runCallbacks()
    await this.#forEach((counts) => counts.close())
    process.off('beforeExit', this.#onBeforeExit)
    this.#stopAtExit()
  }

  /** Flushes once. Retries would keep the process alive, so the exit listener saves failed counts to disk. */
  readonly #onBeforeExit = (): void => {
    this.#runCallbacks()
    if (this.#hasGivenUp || this.#pendingRows() === 0) return
    void this.#forEach((counts) => counts.flushAtEnd()).then(() => {
      this.#hasGivenUp = this.#pendingRows() > 0
    })
  }

  /** Only synchronous file writes are possible here, because the event loop has ended. */
  readonly #onExit = (): void => {
    this.#runCallbacks()
    for (const counts of this.#all.values()) counts.saveToDisk()
  }

  /** Runs in parallel, so that an unavailable database causes a single wait instead of one wait per table. */
  async #forEach(work: (counts: AnyCounts) => Promise<void>): Promise<void> {
    await Promise.all([...this.#all.values()].map(work))
  }

  #runCallbacks(): void {
    for (const callback of this.#beforeFlush) callback()
  }

  #pendingRows(): number {
    return [...this.#all.values()].reduce((sum, { pendingRows }) => sum + pendingRows, 0)
  }
}
