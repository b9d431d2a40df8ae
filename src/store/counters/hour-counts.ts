import { randomUUID } from 'node:crypto'
import type { Counters } from '../../model/counters.js'
import { failureMessage } from '../../model/own-words.js'
import { applicationId } from '../applications.js'
import type { Database } from '../database.js'
import { isBatchMarked, markBatches, unmarkBatch } from '../recording/batch-marker.js'
import type { Spool } from '../spool/spool.js'
import { type HourRow, HourRows, type HourRowsOptions } from './hour-rows.js'
import { digestOf, type HourTable } from './hour-table.js'
import { leaveSums, leftSums, takeLeftSums } from './left-sums.js'

/** What counting needs of the tracker around it. */
export interface Counting {
  database: Database
  /** Settles when the schema is there. */
  open(): Promise<void>
  application_name: string
  counters: Counters
  /** Where sums are left that cannot be written before the end; without it they are lost. */
  spool?: Spool
  /** Everything is left there: the database must not be touched from here. */
  spoolOnly?: boolean
  now(): number
  warn(sentence: string): void
}

export interface HourCountsOptions<Name extends string> extends Pick<HourRowsOptions<Name>, 'others'> {
  /** What is counted, for people: "request-guard events". */
  title: string
  max_rows?: number
  /** How long a count may wait in memory. */
  flush_after_ms?: number
}

/** Rows that are written in one transaction, under an id that makes the writing of it happen once. */
interface Batch<Name extends string, Amount extends string> {
  batch_id: string
  rows: readonly HourRow<Name, Amount>[]
  /** An attempt may have been committed without our knowing. */
  was_tried: boolean
  refusals: number
}

const MAX_ROWS = 2000
const FLUSH_AFTER_MS = 5000
/** What the database itself refuses so often it will never take. */
const MOST_REFUSALS = 3

/**
 * Sums that gather in memory and are added to those of other processes now and then. Adding never throws and never
 * waits. What could not be written is kept and tried again, and an attempt with an unclear end counts once.
 *
 * @example
 * const counts = new HourCounts(GUARD_HOURS, counting, { title: 'request-guard events', others: (names) => names })
 * counts.add({ kind: 'throttle', rule: 'sign-in' }, { count: 1 })
 */
export class HourCounts<Name extends string, Amount extends string> {
  readonly #table: HourTable<Name, Amount>
  readonly #counting: Counting
  readonly #title: string
  readonly #flush_after_ms: number
  readonly #rows: HourRows<Name, Amount>
  /** Begun, and not known to be written. */
  #pending: Batch<Name, Amount> | null = null
  #last_written: string | null = null
  #running: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null
  #is_away = false
  #is_ending = false
  #closed = false

  constructor(
    table: HourTable<Name, Amount>,
    counting: Counting,
    { title, others, max_rows = MAX_ROWS, flush_after_ms = FLUSH_AFTER_MS }: HourCountsOptions<Name>,
  ) {
    this.#table = table
    this.#counting = counting
    this.#title = title
    this.#flush_after_ms = flush_after_ms
    this.#rows = new HourRows(table, { max_rows, others })
  }

  /** Rows that the database is not known to have. */
  get waiting(): number {
    return this.#rows.size + (this.#pending?.rows.length ?? 0)
  }

  /** Adds to the sums of this hour, or of an earlier one. */
  add(
    names: Readonly<Record<Name, string>>,
    amounts: Readonly<Record<Amount, number>>,
    at = this.#counting.now(),
  ): void {
    if (this.#closed) {
      this.#counting.counters.add('counts_late')
      return
    }
    this.#rows.add(at, names, amounts)
    this.#flushLater()
  }

  /** Writes what was added before, as far as the database lets it. Never rejects. */
  async flush(): Promise<void> {
    while (this.#running) await this.#running
    this.#running = this.#write().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  /**
   * Flushes once, and not again by itself: with a database that is away, each attempt would wait for it, and the
   * process that wants to end with it.
   */
  async flushAtEnd(): Promise<void> {
    this.#is_ending = true
    this.#stopTimer()
    await this.flush()
    this.#is_ending = false
  }

  /** Flushes for the last time; what is added from then on is only counted as late. */
  async close(): Promise<void> {
    await this.flushAtEnd()
    this.#closed = true
    this.#stopTimer()
    this.leave()
  }

  /**
   * Leaves on disk, in one go, what the database is not known to have: for a process that ends, or a database that is
   * away at the end. Its id tells whoever takes it up whether it had been written after all.
   */
  leave(): void {
    const { spool, application_name, counters } = this.#counting
    while (this.waiting > 0) {
      const { batch_id, rows } = this.#next()
      this.#pending = null
      const is_left = spool !== undefined && leaveSums(spool, this.#table, { batch_id, application_name, rows })
      if (!is_left) counters.add('counts_not_written', rows.length)
    }
  }

  /** There is a timer only while there is something to write, and it keeps no process alive. */
  #flushLater(): void {
    if (this.#timer || this.#closed || this.#is_ending) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      void this.flush()
    }, this.#flush_after_ms).unref()
  }

  #stopTimer(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }

  async #write(): Promise<void> {
    const { open, warn, spoolOnly } = this.#counting
    if (spoolOnly) return this.leave()
    try {
      // A database that is away is not waited for without need.
      if (this.waiting === 0 && !(await this.#hasLeftSums())) return
      await open()
      await this.#takeUp()
      for (let left = this.waiting; left > 0; ) {
        const batch = this.#next()
        await this.#writeBatch(batch)
        left -= batch.rows.length
      }
      this.#is_away = false
    } catch (error) {
      this.#refused(error)
      if (!this.#is_away) {
        warn(`Counts of ${this.#title} cannot be written (${failureMessage(error)}); they are kept and tried again.`)
      }
      this.#is_away = true
      if (this.waiting > 0) this.#flushLater()
    }
  }

  #refused(error: unknown): void {
    const { database, counters } = this.#counting
    if (!this.#pending || database.dialect.faultOf(error) !== 'statement') return
    if (++this.#pending.refusals < MOST_REFUSALS) return
    counters.add('counts_refused', this.#pending.rows.length)
    this.#pending = null
  }

  async #hasLeftSums(): Promise<boolean> {
    const { spool } = this.#counting
    return spool !== undefined && (await leftSums(spool, this.#table)).length > 0
  }

  /** An embedded database blocks the host's thread, so it is given few rows at once. */
  #next(): Batch<Name, Amount> {
    const { maxRowsPerFlush } = this.#counting.database.dialect
    const rows = () => this.#rows.take(maxRowsPerFlush)
    this.#pending ??= { batch_id: randomUUID(), rows: rows(), was_tried: false, refusals: 0 }
    return this.#pending
  }

  /** What an earlier process had to leave. Of two that take it up at once, the marker lets one through. */
  async #takeUp(): Promise<void> {
    const { spool, counters } = this.#counting
    if (!spool) return
    await takeLeftSums(spool, this.#table, async ({ batch_id, application_name, rows }) => {
      const batch = { batch_id, rows, was_tried: true, refusals: 0 }
      await this.#add(batch, application_name).catch(async (error: unknown) => {
        if (await isBatchMarked(this.#counting.database.read, batch_id)) return
        if (this.#counting.database.dialect.faultOf(error) !== 'statement') throw error
        counters.add('counts_refused', rows.length)
      })
    })
  }

  async #writeBatch(batch: Batch<Name, Amount>): Promise<void> {
    await this.#add(batch, this.#counting.application_name)
    this.#last_written = batch.batch_id
    // It may have been left on disk meanwhile, as the process ends.
    if (this.#pending === batch) this.#pending = null
  }

  async #add(batch: Batch<Name, Amount>, application_name: string): Promise<void> {
    const { database, now } = this.#counting
    const application_id = await applicationId(database, application_name, now())
    const { was_tried } = batch
    batch.was_tried = true
    await database.write(async (trx) => {
      if (was_tried && (await isBatchMarked(trx, batch.batch_id))) return
      await markBatches(trx, database.dialect, [batch.batch_id], now())
      // Nobody will ask for the marker before: what it stands for is known to be written.
      if (this.#last_written) await unmarkBatch(trx, this.#last_written)
      await database.dialect.insertMany(trx, this.#table.target, this.#rowsOf(batch, application_id))
    })
  }

  /** In one order for every process, so that two flushes wait for each other rather than deadlock. */
  #rowsOf({ rows }: Batch<Name, Amount>, application_id: number): (string | number)[][] {
    const { names, amounts } = this.#table
    return rows
      .map((row) => ({ ...row, digest: digestOf(this.#table, row.names) }))
      .sort((a, b) => a.hour - b.hour || (a.digest < b.digest ? -1 : 1))
      .map(({ hour, digest, ...row }) => [
        ...[application_id, hour, digest],
        ...(Object.keys(names) as Name[]).map((name) => row.names[name]),
        ...(Object.keys(amounts) as Amount[]).map((name) => row.amounts[name]),
      ])
  }
}
