import { randomUUID } from 'node:crypto'
import type { Counters } from '../../model/counters.js'
import { failureMessage } from '../../model/own-words.js'
import { applicationId } from '../applications.js'
import type { Database } from '../database.js'
import { afterSilence, Patience } from '../patience.js'
import type { Spool } from '../spool/spool.js'
import type { Batch, BatchOutcome } from './batch.js'
import { mark, markedAmong, unmark } from './batch-marker.js'
import type { FoldedGroup } from './fold.js'
import { mergeBatches } from './merge-batches.js'
import type { Outbox } from './outbox.js'
import { recordBatch } from './record-batch.js'
import { trimOccurrences } from './trim.js'

export interface WriterParts {
  database: Database
  spool: Spool
  counters: Counters
  outbox: Outbox
  application_name: string
  max_occurrences_per_error: number
  now(): number
  /** Resolves when the schema is there; rejects, with a reason worth printing, when it is not. */
  open(): Promise<void>
  warn(sentence: string): void
}

/** Longest time without any response. The caller of the host waits for it. */
const SILENCE_MS = 10_000
/**
 * Longest time that a query waits for its response. A connection whose packets were lost never responds, although the
 * database may have recovered: what waits must be counted within five seconds after that.
 */
const QUERY_MS = 3000
/** Each abandoned attempt holds resources until the database responds. */
const MAX_ABANDONED = 3

/** Writes batches to the database, each once, and gives up on a database that does not answer. */
export class BatchWriter {
  readonly #parts: WriterParts
  #application_id: number | null = null
  /** The file that the id was read from. */
  #generation: number | undefined
  #abandoned = 0
  #queryMs = QUERY_MS
  /** Whether the last probe succeeded, so that the database responds to small transactions. */
  #isResponsive = false
  last_flush_at: number | null = null

  constructor(parts: WriterParts) {
    this.#parts = parts
  }

  /** Rejects when the database is away, or refuses the batch as a whole. */
  async write(batch: Batch): Promise<BatchOutcome> {
    const { spool, counters, open, now, outbox } = this.#parts
    const outcome = await this.#unlessSilent(new Patience(this.#queryMs), async (database) => {
      await open()
      return recordBatch(database, batch, {
        application_id: await this.#applicationId(database, batch.application_name),
        now: now(),
        outbox,
        setAside: (groups) => spool.keepFailed({ ...batch, batch_id: randomUUID(), groups }),
      })
    })
    this.last_flush_at = now()
    this.#queryMs = QUERY_MS
    for (const { group, error } of outcome.refused) this.refused([group], error)
    for (const { size } of outcome.repeated.values()) counters.add('reported_again', size)
    await this.#trim(batch, outcome)
    return outcome
  }

  /**
   * Writes several batches in one transaction per application, each batch once. Rejects as `write` does: the database
   * then contains all batches of an application or none.
   */
  async writeTogether(batches: readonly Batch[]): Promise<void> {
    const { open } = this.#parts
    if (batches.length === 1 && batches[0]) return void (await this.write(batches[0]))
    const marked = await this.#unlessSilent(new Patience(this.#queryMs), async (database) => {
      await open()
      const tried = batches.filter(({ tried_before }) => tried_before)
      return markedAmong(
        database.read,
        tried.map(({ batch_id }) => batch_id),
      )
    })
    const unwritten = batches.filter(({ batch_id }) => !marked.has(batch_id))
    for (const merged of mergeBatches(unwritten)) await this.write(merged)
  }

  /** Counts and tells what the database would not take. */
  refused(groups: readonly FoldedGroup[], error: unknown): void {
    const { counters, spool, warn } = this.#parts
    counters.add('refused_by_database', occurrencesOf(groups))
    warn(`The database refused an error, which is kept as a .failed file in ${spool.folder}: ${failureMessage(error)}`)
  }

  /**
   * Whether the database takes errors again. A locked file and a standby that is read-only answer every question: only a
   * write tells that they take one.
   */
  async isBack(): Promise<boolean> {
    const { dialect } = this.#parts.database
    const { open, now } = this.#parts
    if (this.#abandoned >= MAX_ABANDONED) return false
    // What comes back may be another database under the same address.
    this.#application_id = null
    const patience = new Patience(QUERY_MS)
    try {
      await this.#unlessSilent(patience, async (database) => {
        await open()
        const batch_id = randomUUID()
        await database.write(async (trx) => {
          await mark(trx, dialect, [batch_id], now())
          await unmark(trx, batch_id)
        })
      })
      this.#isResponsive = true
      return true
    } catch {
      // Queries of pages may hang as well, and occupy the pool.
      if (patience.isExhausted) dialect.breakOff()
      return false
    }
  }

  /** Gives up on a query, or on the whole, when the database does not respond. */
  async #unlessSilent<T>(patience: Patience, work: (database: Database) => Promise<T>): Promise<T> {
    const { database } = this.#parts
    const { dialect } = database
    const attempt = work(database.withPatience(patience))
    let cancel = () => {}
    const silence = new Promise<never>((_, reject) => {
      const wait = (ms: number) => {
        cancel = afterSilence(ms, () => {
          const left = patience.heardAt + SILENCE_MS - performance.now()
          if (left > 0) return wait(left)
          if (!dialect.breakOff()) this.#abandon(attempt)
          reject(new Error(`${dialect.address} has not answered for ${SILENCE_MS / 1000} seconds`))
        })
      }
      wait(SILENCE_MS)
    })
    try {
      return await Promise.race([attempt, silence])
    } catch (error) {
      if (!patience.isExhausted) throw error
      this.#extendPatience()
      throw new Error(`${dialect.address} has not answered for ${patience.ms / 1000} seconds`, { cause: error })
    } finally {
      cancel()
    }
  }

  /** A database that responds to probes, but not in time to a batch, may need longer for the batch. */
  #extendPatience(): void {
    if (this.#isResponsive) this.#queryMs = Math.min(this.#queryMs * 2, SILENCE_MS)
    this.#isResponsive = false
  }

  /** Counts an attempt that timed out, until it settles after all. */
  #abandon(attempt: Promise<unknown>): void {
    this.#abandoned++
    const onSettled = () => {
      this.#abandoned--
    }
    attempt.then(onSettled, onSettled)
  }

  async #applicationId(database: Database, name: string): Promise<number> {
    const { application_name, now } = this.#parts
    if (name !== application_name) return applicationId(database, name, now())
    const generation = database.dialect.file?.generation
    if (generation !== this.#generation) this.#application_id = null
    this.#generation = generation
    this.#application_id ??= await applicationId(database, name, now())
    return this.#application_id
  }

  /** Removes old occurrence rows, not at each flush but each time a group grew by a quarter of what is kept. */
  async #trim(batch: Batch, outcome: BatchOutcome): Promise<void> {
    const keep = this.#parts.max_occurrences_per_error
    const step = Math.max(1, Math.floor(keep / 4))
    for (const { hash_signature, count } of batch.groups) {
      const group = outcome.groups.get(hash_signature)
      if (!group || group.occurrence_count <= keep) continue
      const before = group.occurrence_count - count
      if (Math.floor(before / step) === Math.floor(group.occurrence_count / step)) continue
      try {
        await this.#unlessSilent(new Patience(SILENCE_MS), (database) => trimOccurrences(database, group.id, keep))
      } catch (error) {
        // The rows are surplus, not wrong: a later flush of the group tries again.
        this.#parts.counters.add('trim_failed')
        this.#parts.warn(`Old occurrences could not be removed: ${failureMessage(error)}`)
      }
    }
  }
}

export function occurrencesOf(groups: readonly FoldedGroup[]): number {
  return groups.reduce((sum, { count }) => sum + count, 0)
}
