import { randomUUID } from 'node:crypto'
import type { Counters } from '../../model/counters.js'
import { failureMessage } from '../../model/errors.js'
import { applicationId } from '../applications.js'
import type { Database } from '../database.js'
import type { Spool } from '../spool/spool.js'
import { afterInactivity, QueryTimeout } from '../sql/query-timeout.js'
import type { Batch, BatchOutcome } from './batch.js'
import { findMarkedBatches, markBatches, unmarkBatch } from './batch-marker.js'
import { mergeBatches } from './merge-batches.js'
import type { Outbox } from './outbox.js'
import { recordBatch } from './record-batch.js'
import { reportRefused } from './refusal.js'
import { forgetStored } from './stored-cache.js'
import { trimOccurrences } from './trim-occurrences.js'

export interface WriterParts {
  database: Database
  spool: Spool
  counters: Counters
  outbox: Outbox
  application_name: string
  max_occurrences_per_error: number
  now(): number
  /** Resolves when the schema is ready. Otherwise rejects with an error whose message can be logged. */
  open(): Promise<void>
  warn(message: string): void
}

/** Time without any response after which a write is abandoned. The host's call waits for it. */
const INACTIVITY_TIMEOUT_MS = 10_000
/**
 * Timeout of a query. A connection whose packets were dropped never responds, even after the database has recovered. Pending
 * errors must be committed within five seconds of the recovery.
 */
const QUERY_TIMEOUT_MS = 3000
/** Limits abandoned attempts, because each holds resources until the database responds. */
const MAX_ABANDONED = 3

/** Writes each batch to the database exactly once. Abandons the write if the database does not respond. */
export class BatchWriter {
  readonly #parts: WriterParts
  #application_id: number | null = null
  /** Generation of the SQLite file from which the id and the cache of stored rows were read. */
  #generation: number | undefined
  #abandoned = 0
  #queryMs = QUERY_TIMEOUT_MS
  /** True if the last probe succeeded: the database responds to small transactions. */
  #isResponsive = false
  last_flush_at: number | null = null

  constructor(parts: WriterParts) {
    this.#parts = parts
  }

  /** Rejects if the database is unavailable or refuses the whole batch. */
  async write(batch: Batch): Promise<BatchOutcome> {
    const { spool, counters, open, now, outbox } = this.#parts
    const outcome = await this.#withTimeouts(new QueryTimeout(this.#queryMs), async (database) => {
      await open()
      return recordBatch(database, batch, {
        application_id: await this.#applicationId(database, batch.application_name),
        now: now(),
        outbox,
        setAside: (groups) => spool.putFailed({ ...batch, batch_id: randomUUID(), groups }),
      })
    })
    this.last_flush_at = now()
    this.#queryMs = QUERY_TIMEOUT_MS
    for (const { group, error } of outcome.refused) reportRefused(this.#parts, [group], error)
    for (const { size } of outcome.repeated.values()) counters.add('reported_again', size)
    await this.#trim(batch, outcome)
    return outcome
  }

  /**
   * Writes several batches in one transaction per application, each batch once. Rejects like `write`. The database then
   * contains all batches of an application, or none.
   */
  async writeMerged(batches: readonly Batch[]): Promise<void> {
    const { open } = this.#parts
    if (batches.length === 1 && batches[0]) return void (await this.write(batches[0]))
    const marked = await this.#withTimeouts(new QueryTimeout(this.#queryMs), async (database) => {
      await open()
      const uncertain = batches.filter(({ mayBeCommitted }) => mayBeCommitted)
      return findMarkedBatches(
        database.read,
        uncertain.map(({ batch_id }) => batch_id),
      )
    })
    const unwritten = batches.filter(({ batch_id }) => !marked.has(batch_id))
    for (const merged of mergeBatches(unwritten)) await this.write(merged)
  }

  /**
   * Returns true if the database accepts writes. A read is not enough: a locked file and a read-only standby still
   * respond to reads.
   */
  async isAvailable(): Promise<boolean> {
    const { dialect } = this.#parts.database
    const { open, now } = this.#parts
    if (this.#abandoned >= MAX_ABANDONED) return false
    // A different database may respond at the same address.
    this.#forget()
    const timeout = new QueryTimeout(QUERY_TIMEOUT_MS)
    try {
      await this.#withTimeouts(timeout, async (database) => {
        await open()
        const batch_id = randomUUID()
        await database.write(async (trx) => {
          await markBatches(trx, dialect, [batch_id], now())
          await unmarkBatch(trx, batch_id)
        })
      })
      this.#isResponsive = true
      return true
    } catch {
      // Queries of dashboard pages may hang too and occupy the pool.
      if (timeout.hasExpired) dialect.closeConnections()
      return false
    }
  }

  /** Rejects when a single query times out, or when no query received a response for too long. */
  async #withTimeouts<T>(timeout: QueryTimeout, work: (database: Database) => Promise<T>): Promise<T> {
    const { database } = this.#parts
    const { dialect } = database
    const attempt = work(database.withTimeout(timeout))
    let cancel = () => {}
    const inactivity = new Promise<never>((_, reject) => {
      const wait = (ms: number) => {
        cancel = afterInactivity(ms, () => {
          const remaining = timeout.lastResponseAt + INACTIVITY_TIMEOUT_MS - performance.now()
          if (remaining > 0) return wait(remaining)
          if (!dialect.closeConnections()) this.#abandon(attempt)
          reject(new Error(`${dialect.address} did not respond within ${INACTIVITY_TIMEOUT_MS / 1000} seconds`))
        })
      }
      wait(INACTIVITY_TIMEOUT_MS)
    })
    try {
      return await Promise.race([attempt, inactivity])
    } catch (error) {
      if (!timeout.hasExpired) throw error
      this.#extendTimeout()
      throw new Error(`${dialect.address} did not respond within ${timeout.ms / 1000} seconds`, { cause: error })
    } finally {
      cancel()
    }
  }

  /** Doubles the query timeout for a database that responds to probes but not in time to a batch. */
  #extendTimeout(): void {
    if (this.#isResponsive) this.#queryMs = Math.min(this.#queryMs * 2, INACTIVITY_TIMEOUT_MS)
    this.#isResponsive = false
  }

  /** Counts an attempt that timed out until it settles. */
  #abandon(attempt: Promise<unknown>): void {
    this.#abandoned++
    const onSettled = () => {
      this.#abandoned--
    }
    attempt.then(onSettled, onSettled)
  }

  async #applicationId(database: Database, name: string): Promise<number> {
    const { application_name, now } = this.#parts
    const generation = database.dialect.file?.generation
    if (generation !== this.#generation) this.#forget()
    this.#generation = generation
    if (name !== application_name) return applicationId(database, name, now())
    this.#application_id ??= await applicationId(database, name, now())
    return this.#application_id
  }

  #forget(): void {
    this.#application_id = null
    forgetStored(this.#parts.database.dialect)
  }

  /** Deletes old occurrence rows each time a group has grown by a quarter of the number it keeps. */
  async #trim(batch: Batch, outcome: BatchOutcome): Promise<void> {
    const keep = this.#parts.max_occurrences_per_error
    const step = Math.max(1, Math.floor(keep / 4))
    for (const { key, count } of batch.groups) {
      const group = outcome.groups.get(key)
      if (!group || group.occurrence_count <= keep) continue
      const before = group.occurrence_count - count
      if (Math.floor(before / step) === Math.floor(group.occurrence_count / step)) continue
      try {
        const timeout = new QueryTimeout(INACTIVITY_TIMEOUT_MS)
        await this.#withTimeouts(timeout, (database) => trimOccurrences(database, group.id, keep))
      } catch (error) {
        // Surplus rows are harmless. A later flush of the group retries.
        this.#parts.counters.add('trim_failed')
        this.#parts.warn(`Could not delete old occurrences: ${failureMessage(error)}`)
      }
    }
  }
}
