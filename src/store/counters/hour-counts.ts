import { randomUUID } from 'node:crypto'
import type { Counters } from '../../model/counters.js'
import { failureMessage } from '../../model/errors.js'
import { applicationId } from '../applications.js'
import type { Database } from '../database.js'
import { isBatchMarked, markBatches, unmarkBatch } from '../recording/batch-marker.js'
import type { Spool } from '../spool/spool.js'
import { type HourTable, namesDigest } from './define-hour-table.js'
import { type HourRow, HourRows, type HourRowsOptions } from './hour-rows.js'
import { importUnwritten, listUnwritten, saveUnwritten } from './unwritten-counts.js'

/** Dependencies of `HourCounts`. */
export interface CountingContext {
  database: Database
  /** Resolves when the schema is ready. */
  open(): Promise<void>
  application_name: string
  counters: Counters
  /** Receives counts that cannot be written before exit. Without a spool, they are lost. */
  spool?: Spool
  /** Leaves all counts in the spool, because this thread must not use the database. */
  spoolOnly?: boolean
  now(): number
  warn(message: string): void
}

export interface HourCountsOptions<Name extends string> extends Pick<HourRowsOptions<Name>, 'overflowNames'> {
  /** Label for log lines, such as "request-guard events". */
  title: string
  maxRows?: number
  /** Maximum time that a count stays in memory. */
  flushAfterMs?: number
}

/** Rows that are written in one transaction. The batch id makes the write idempotent. */
interface CountBatch<Name extends string, Amount extends string> {
  batch_id: string
  rows: readonly HourRow<Name, Amount>[]
  /** True if an earlier attempt may have been committed without a response. */
  mayBeCommitted: boolean
  refusals: number
}

const MAX_ROWS = 2000
const FLUSH_AFTER_MS = 5000
/** Attempts after which refused rows are dropped. */
const MAX_REFUSALS = 3

/**
 * Hourly counts, buffered in memory and added to a table that all processes share. `add` never throws or waits. Failed
 * writes are retried, and each batch counts exactly once.
 *
 * @example
 * const counts = new HourCounts(REJECTION_HOURS, counting, { title: 'rejections', overflowNames: {} })
 * counts.add({ budget: 'client_max_requests_per_minute' }, { count: 1, first_seen_at: now, last_seen_at: now })
 */
export class HourCounts<Name extends string, Amount extends string> {
  readonly #table: HourTable<Name, Amount>
  readonly #counting: CountingContext
  readonly #title: string
  readonly #flushAfterMs: number
  readonly #rows: HourRows<Name, Amount>
  /** Batch that is not known to be committed. */
  #pending: CountBatch<Name, Amount> | null = null
  #lastWrittenId: string | null = null
  #running: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null
  #hasFailed = false
  #isEnding = false
  #isClosed = false

  constructor(
    table: HourTable<Name, Amount>,
    counting: CountingContext,
    { title, overflowNames, maxRows = MAX_ROWS, flushAfterMs = FLUSH_AFTER_MS }: HourCountsOptions<Name>,
  ) {
    this.#table = table
    this.#counting = counting
    this.#title = title
    this.#flushAfterMs = flushAfterMs
    this.#rows = new HourRows(table, { maxRows, overflowNames })
  }

  /** Number of rows that are not known to be committed. */
  get pendingRows(): number {
    return this.#rows.size + (this.#pending?.rows.length ?? 0)
  }

  /** Adds to the counts of the hour that contains `at`. */
  add(
    names: Readonly<Record<Name, string>>,
    amounts: Readonly<Record<Amount, number>>,
    at = this.#counting.now(),
  ): void {
    if (this.#isClosed) {
      this.#counting.counters.add('counts_late')
      return
    }
    this.#rows.add(at, names, amounts)
    this.#flushLater()
  }

  /** Writes all counts added so far, if the database is available. Never rejects. */
  async flush(): Promise<void> {
    while (this.#running) await this.#running
    this.#running = this.#write().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  /** Flushes once without scheduling a retry, because retries during an outage would delay the exit. */
  async flushAtEnd(): Promise<void> {
    this.#isEnding = true
    this.#stopTimer()
    await this.flush()
    this.#isEnding = false
  }

  /** Flushes for the last time. Later calls of `add` only increase the counter `counts_late`. */
  async close(): Promise<void> {
    await this.flushAtEnd()
    this.#isClosed = true
    this.#stopTimer()
    this.saveToDisk()
  }

  /** Writes all uncommitted counts to the spool synchronously. The batch id prevents double counting at the import. */
  saveToDisk(): void {
    const { spool, application_name, counters } = this.#counting
    while (this.pendingRows > 0) {
      const { batch_id, rows } = this.#nextBatch()
      this.#pending = null
      const isSaved = spool !== undefined && saveUnwritten(spool, this.#table, { batch_id, application_name, rows })
      if (!isSaved) counters.add('counts_not_written', rows.length)
    }
  }

  #flushLater(): void {
    if (this.#timer || this.#isClosed || this.#isEnding) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      void this.flush()
    }, this.#flushAfterMs).unref()
  }

  #stopTimer(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }

  async #write(): Promise<void> {
    const { open, warn, spoolOnly } = this.#counting
    if (spoolOnly) return this.saveToDisk()
    try {
      // Do not wait for an unavailable database if there is nothing to write.
      if (this.pendingRows === 0 && !(await this.#hasUnwrittenFiles())) return
      await open()
      await this.#importUnwrittenFiles()
      for (let remaining = this.pendingRows; remaining > 0; ) {
        const batch = this.#nextBatch()
        await this.#writeBatch(batch)
        remaining -= batch.rows.length
      }
      this.#hasFailed = false
    } catch (error) {
      this.#dropRefused(error)
      if (!this.#hasFailed) warn(`Cannot write counts of ${this.#title} (${failureMessage(error)}). Retrying.`)
      this.#hasFailed = true
      if (this.pendingRows > 0) this.#flushLater()
    }
  }

  /** Drops the pending batch after repeated refusals, because further retries cannot succeed. */
  #dropRefused(error: unknown): void {
    const { database, counters } = this.#counting
    if (!this.#pending || database.classifyError(error) !== 'statement') return
    if (++this.#pending.refusals < MAX_REFUSALS) return
    counters.add('counts_refused', this.#pending.rows.length)
    this.#pending = null
  }

  async #hasUnwrittenFiles(): Promise<boolean> {
    const { spool } = this.#counting
    return spool !== undefined && (await listUnwritten(spool, this.#table)).length > 0
  }

  /** Limits the rows of a batch, because an embedded database blocks the host's thread. */
  #nextBatch(): CountBatch<Name, Amount> {
    const { maxRowsPerFlush } = this.#counting.database.target
    const rows = () => this.#rows.take(maxRowsPerFlush)
    this.#pending ??= { batch_id: randomUUID(), rows: rows(), mayBeCommitted: false, refusals: 0 }
    return this.#pending
  }

  /** Imports the files of earlier processes. If two processes import the same file, the batch marker stops the second. */
  async #importUnwrittenFiles(): Promise<void> {
    const { spool, counters } = this.#counting
    if (!spool) return
    await importUnwritten(spool, this.#table, async ({ batch_id, application_name, rows }) => {
      const batch = { batch_id, rows, mayBeCommitted: true, refusals: 0 }
      await this.#insert(batch, application_name).catch(async (error: unknown) => {
        if (await isBatchMarked(this.#counting.database.read, batch_id)) return
        if (this.#counting.database.classifyError(error) !== 'statement') throw error
        counters.add('counts_refused', rows.length)
      })
    })
  }

  async #writeBatch(batch: CountBatch<Name, Amount>): Promise<void> {
    await this.#insert(batch, this.#counting.application_name)
    this.#lastWrittenId = batch.batch_id
    // An exit during the write may have saved the batch to disk.
    if (this.#pending === batch) this.#pending = null
  }

  async #insert(batch: CountBatch<Name, Amount>, application_name: string): Promise<void> {
    const { database, now } = this.#counting
    const application_id = await applicationId(database, application_name, now())
    const { mayBeCommitted } = batch
    batch.mayBeCommitted = true
    await database.write(async (trx) => {
      if (mayBeCommitted && (await isBatchMarked(trx, batch.batch_id))) return
      await markBatches(trx, database.dialect, [batch.batch_id], now())
      // The previous batch is known to be committed, so its marker is no longer needed.
      if (this.#lastWrittenId) await unmarkBatch(trx, this.#lastWrittenId)
      await database.dialect.insertMany(trx, this.#table.target, this.#tableRows(batch, application_id))
    })
  }

  /** Sorts the rows by key, so that concurrent flushes cannot deadlock. */
  #tableRows({ rows }: CountBatch<Name, Amount>, application_id: number): (string | number)[][] {
    const { names, amounts } = this.#table
    return rows
      .map((row) => ({ ...row, digest: namesDigest(this.#table, row.names) }))
      .sort((a, b) => a.hour - b.hour || (a.digest < b.digest ? -1 : 1))
      .map(({ hour, digest, ...row }) => [
        ...[application_id, hour, digest],
        ...(Object.keys(names) as Name[]).map((name) => row.names[name]),
        ...(Object.keys(amounts) as Amount[]).map((name) => row.amounts[name]),
      ])
  }
}
