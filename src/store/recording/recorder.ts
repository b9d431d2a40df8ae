import { randomUUID } from 'node:crypto'
import { failureMessage } from '../../model/errors.js'
import type { ErrorEvent } from '../../model/event.js'
import { type EnqueueBatch, parseEnqueuedBatch } from '../spool/enqueue-batch.js'
import { Outage } from '../spool/outage.js'
import type { Spool } from '../spool/spool.js'
import { SpoolDrain } from '../spool/spool-drain.js'
import type { Batch } from './batch.js'
import type { BatchWriter, WriterParts } from './batch-writer.js'
import { countOccurrences, FoldedGroup } from './folded-group.js'
import {
  OpenBatch,
  type OpenGroup,
  type Receipt,
  type Settle,
  settleAll,
  settleInBatches,
  settleRecorded,
} from './open-batch.js'
import { isRefusal, reportRefused } from './refusal.js'

export type { Receipt } from './open-batch.js'

export interface RecorderParts extends Omit<WriterParts, 'outbox'> {
  /** Loads the modules that write to the database. */
  loadWriter(): Promise<BatchWriter>
  /** Receives errors that may end the process, before any other processing. Null without crash capture. */
  crashes: Spool | null
  /** Used with `journal`: passes batches to the job engine. Batches that the engine does not accept go to disk. */
  enqueueBatch: EnqueueBatch | null
  /** Called when the spool contains files that another thread must import. */
  onSpooled(): void
}

export interface RecorderMode {
  /** Acknowledges a batch as soon as it is on disk or with the job engine, without waiting for the database. */
  journal: boolean
  /** Leaves every batch in the spool, because this thread must not use the database. */
  spoolOnly: boolean
}

/** Limits the files with a single event that wait for the database. Further events share files. */
const MAX_PENDING_EVENT_FILES = 50

/** Groups that left the open batch together, and their callers. */
interface TakenBatch {
  batch: Batch
  groups: readonly OpenGroup[]
}

/**
 * The write path. An event is always in exactly one of these states:
 *
 * - open: in memory, folded with the repeats of its signature (`OpenBatch`)
 * - taken: in memory, part of a batch that is being written (`#taken`)
 * - on disk: in a spool file, which the drain writes to the database (`SpoolDrain`)
 * - final: committed, set aside as refused, or counted as lost
 *
 * The intake moves events from open to taken and acknowledges them. It waits for the database only without a journal.
 * The drain waits only for the database. Intake and drain never wait for each other, except in `flush`.
 */
export class Recorder {
  readonly #parts: RecorderParts
  /** Null until its modules are loaded. */
  #writer: BatchWriter | null = null
  readonly #outage: Outage
  readonly #drain: SpoolDrain
  readonly #open: OpenBatch
  readonly #taken = new Set<Batch>()
  readonly #mode: RecorderMode
  #intake: Promise<void> | null = null
  #spilling: Promise<void> | null = null
  #isScheduled = false
  /** Set while `recordToDisk` runs. */
  #directToDisk: { batch_id: string | null } | null = null
  #isEnding = false
  #isSpoolAnnounced = false
  /** First batch of the current outage that could not be written to the spool. */
  #unspooled: Batch | null = null
  /** Time of the last acknowledgment, from `performance.now()`. */
  #settledAt = -Infinity
  /** Number of events since the start. */
  received = 0

  constructor(parts: RecorderParts, mode: RecorderMode) {
    this.#parts = parts
    this.#mode = mode
    this.#drain = new SpoolDrain({
      spools: parts.crashes ? [parts.spool, parts.crashes] : [parts.spool],
      maxRows: parts.database.target.maxRowsPerFlush,
      write: async (batches) => (await this.#loadWriter()).writeMerged(batches),
      isRefusal: (error) => isRefusal(parts.database, error),
      onRefused: ({ groups }, error) => reportRefused(parts, groups, error),
      isUnavailable: () => this.#isUnavailable,
      onUnavailable: (error) => {
        this.#startOutage(error)
        this.#announceSpool()
      },
      onFailed: (error) => parts.warn(`Cannot import from ${parts.spool.folder}: ${failureMessage(error)}`),
    })
    this.#outage = new Outage({
      now: parts.now,
      isAvailable: async () =>
        (await (await this.#loadWriter()).isAvailable()) &&
        (await this.#commitUnspooled()) &&
        this.#drain.commitOneFile(),
      onRecovered: () => this.#endOutage(),
    })
    this.#open = new OpenBatch(parts.max_occurrences_per_error)
    void parts.spool.refreshSize()
    if (mode.spoolOnly) this.#drain.close()
    else {
      void parts.open().then(
        () => this.import(),
        (error) => this.#startOutage(error),
      )
    }
  }

  /** Settles when the event is committed or, in journal mode, when it is on disk. Never rejects. */
  record(event: ErrorEvent): Promise<Receipt> {
    this.received++
    return new Promise((settle) => {
      if (this.#directToDisk && this.#writeEventFile(event, settle, this.#directToDisk.batch_id)) return
      this.#open.add(event, settle)
      // No asynchronous code runs after the exit event, so the event must be written now.
      if (this.#isEnding) return this.spoolNow()
      this.#schedule()
      if (this.#open.isFull) this.#spill()
    })
  }

  /**
   * Writes events that `work` records to disk before it returns, to the crash folder if configured. The drain imports
   * them from there. The batch id prevents double counting, whether or not the process survives. A caller that may
   * repeat `work` passes its own id.
   */
  recordToDisk(work: () => void, batch_id: string | null = null): void {
    this.#directToDisk = { batch_id }
    try {
      work()
    } finally {
      this.#directToDisk = null
    }
  }

  get crashFolder(): string | null {
    return this.#parts.crashes?.folder ?? null
  }

  /** Returns true if an event is being written or was acknowledged within the given time. */
  hasRecentActivity(milliseconds: number): boolean {
    const isWriting = this.#open.size + this.#taken.size + this.#drain.size > 0
    return isWriting || performance.now() - this.#settledAt < milliseconds
  }

  get state(): {
    buffered: number
    queued: number
    unavailable_since: number | null
    unavailable_reason: string | null
    last_flush_at: number | null
  } {
    return {
      buffered: this.#open.size,
      queued: this.#drain.size,
      unavailable_since: this.#outage.since,
      unavailable_reason: this.#outage.reason,
      last_flush_at: this.last_flush_at,
    }
  }

  get last_flush_at(): number | null {
    return this.#writer?.last_flush_at ?? null
  }

  async #loadWriter(): Promise<BatchWriter> {
    this.#writer ??= await this.#parts.loadWriter()
    return this.#writer
  }

  get #isUnavailable(): boolean {
    return this.#outage.since !== null
  }

  /** Resolves when everything recorded before this call is in the database or, during an outage, on disk. */
  async flush(): Promise<void> {
    for (;;) {
      if (this.#intake || this.#open.size > 0) await this.#startIntake()
      else if (this.#spilling) await this.#spilling
      else if (this.#drain.size > 0 || this.#drain.isRunning) await this.#drain.run()
      else return
    }
  }

  /** Imports all batches from disk. Never rejects. */
  import(): Promise<void> {
    return this.#drain.importFiles()
  }

  /**
   * Writes a batch that arrived through the job engine. Rejects while the database is unavailable, because the engine
   * retries and stores the batch more safely than the disk of this process.
   */
  async recordEnqueuedBatch(text: string): Promise<void> {
    const batch = parseEnqueuedBatch(text)
    if (this.#isUnavailable) throw new Error('The database is unavailable.')
    try {
      await (await this.#loadWriter()).write(batch)
    } catch (error) {
      if (isRefusal(this.#parts.database, error)) this.#setAside(batch, error)
      else {
        this.#startOutage(error)
        throw error
      }
    }
  }

  async close(): Promise<void> {
    await this.flush()
    this.#outage.close()
    this.#drain.close()
    this.#closeSpools()
  }

  /**
   * Moves everything from memory to disk synchronously, because the process may be about to end. Includes batches that
   * are being written: their id lets the import detect whether they were committed.
   */
  spoolNow(): void {
    try {
      for (const batch of this.#taken) if (!this.#parts.spool.putSync(batch)) this.#lose(batch, 'spool_full')
      while (this.#open.size > 0) {
        const taken = this.#take()
        this.#settle(taken, this.#spoolSync(taken.batch))
      }
      if (this.#isEnding) this.#parts.onSpooled()
      else void this.import()
    } catch (error) {
      // Throwing from the exit event would change the exit code of the host.
      this.#warnUnwritable(error)
    }
  }

  /** Called on the exit event. Events from later exit listeners of the host go straight to disk. */
  end(): void {
    this.#isEnding = true
    this.spoolNow()
    this.#closeSpools()
  }

  #closeSpools(): void {
    this.#parts.spool.close()
    this.#parts.crashes?.close()
  }

  /** Writes an event to a separate file. Returns false if that fails and the event must be recorded as usual. */
  #writeEventFile(event: ErrorEvent, settle: Settle, batch_id: string | null): boolean {
    if (this.#drain.size >= MAX_PENDING_EVENT_FILES) return false
    const { crashes, spool, application_name } = this.#parts
    const group = new FoldedGroup(event)
    group.add(event, 1)
    // The file is unclaimed, so another process may import it first.
    const batch = { batch_id: batch_id ?? randomUUID(), application_name, groups: [group], mayBeCommitted: true }
    const isWritten = (crashes !== null && this.#putSync(crashes, batch)) || this.#putSync(spool, batch)
    if (!isWritten) return false
    // With an id, the event belongs to an earlier process and does not explain why this process ends.
    if (batch_id === null) this.#settledAt = performance.now()
    settle({ state: 'accepted' })
    return true
  }

  #putSync(spool: Spool, batch: Batch): boolean {
    try {
      const file = spool.putSync(batch)
      if (file === null) return false
      if (this.#mode.spoolOnly) this.#parts.onSpooled()
      else this.#drain.add({ batch, file, spool })
      return true
    } catch (error) {
      this.#parts.warn(`Cannot write to ${spool.folder}: ${failureMessage(error)}`)
      return false
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#intake) return
    this.#isScheduled = true
    // Events of the same event loop iteration share one batch.
    setImmediate(() => {
      this.#isScheduled = false
      void this.#startIntake()
    })
  }

  #startIntake(): Promise<void> {
    this.#intake ??= this.#takeAll().finally(() => {
      this.#intake = null
      if (this.#open.size > 0) this.#schedule()
    })
    return this.#intake
  }

  async #takeAll(): Promise<void> {
    while (this.#open.size > 0) {
      const taken = this.#take()
      const isAcknowledged = this.#mode.journal && ((await this.#enqueue(taken)) || (await this.#journal(taken)))
      if (!isAcknowledged) await this.#commit(taken)
    }
  }

  /** Takes the groups of one transaction out of the open batch. */
  #take(): TakenBatch {
    const { application_name, database } = this.#parts
    const groups = this.#open.take(database.target.maxRowsPerFlush)
    const folded = groups.map(({ group }) => group)
    const batch = { batch_id: randomUUID(), application_name, groups: folded, mayBeCommitted: false }
    this.#taken.add(batch)
    return { batch, groups }
  }

  /** Passes a batch to the job engine. Returns false if the engine does not accept it. */
  async #enqueue(taken: TakenBatch): Promise<boolean> {
    if ((await this.#parts.enqueueBatch?.(taken.batch)) !== true) return false
    await this.#settleInBatches(taken, { state: 'accepted' })
    return true
  }

  /** Acknowledges a batch once it is on disk. The drain commits it later. Returns false if it is not on disk. */
  async #journal(taken: TakenBatch): Promise<boolean> {
    const { spool, counters, warn } = this.#parts
    if (this.#mode.spoolOnly) return false
    const { batch } = taken
    try {
      const file = await spool.put(batch)
      if (file === null) return false
      this.#announceSpool()
      this.#settle(taken, { state: 'accepted' })
      if (this.#drain.hasRoom) this.#drain.add({ batch, file, spool })
      else {
        await spool.release(file)
        void this.import()
      }
      return true
    } catch (error) {
      counters.add('journal_unwritable')
      warn(
        `Cannot write to the spool folder (${failureMessage(error)}). With async_logging, errors are now acknowledged after the commit.`,
      )
      return false
    }
  }

  /** Commits a batch that is only in memory. During an outage, the batch goes to disk. */
  async #commit(taken: TakenBatch): Promise<void> {
    const { batch, groups } = taken
    if (!this.#isUnavailable && !this.#mode.spoolOnly) {
      try {
        const outcome = await (await this.#loadWriter()).write(batch)
        if (this.#mode.journal) return this.#settleInBatches(taken, { state: 'accepted' })
        this.#removeTaken(batch)
        return settleRecorded(groups, outcome)
      } catch (error) {
        if (isRefusal(this.#parts.database, error)) return this.#settleInBatches(taken, this.#setAside(batch, error))
        this.#startOutage(error)
      }
    }
    await this.#settleInBatches(taken, await this.#spool({ ...batch, mayBeCommitted: true }))
  }

  async #settleInBatches({ batch, groups }: TakenBatch, receipt: Receipt): Promise<void> {
    this.#removeTaken(batch)
    await settleInBatches(groups, receipt)
  }

  #settle({ batch, groups }: TakenBatch, receipt: Receipt): void {
    this.#removeTaken(batch)
    settleAll(groups, receipt)
  }

  #removeTaken(batch: Batch): void {
    this.#settledAt = performance.now()
    this.#taken.delete(batch)
  }

  async #spool(batch: Batch): Promise<Receipt> {
    try {
      const file = await this.#parts.spool.put(batch)
      if (file === null) return this.#lose(batch, 'spool_full')
      await this.#parts.spool.release(file)
      return this.#onSpooled()
    } catch (error) {
      this.#warnUnwritable(error)
      if (this.#isUnavailable) this.#unspooled ??= batch
      return this.#lose(batch, 'spool_unwritable')
    }
  }

  /**
   * Commits the first batch of an outage that could not be spooled. A full disk accepts a small probe, so only a real
   * batch proves that the outage has ended.
   */
  async #commitUnspooled(): Promise<boolean> {
    const batch = this.#unspooled
    if (batch === null) return true
    try {
      await (await this.#loadWriter()).write(batch)
      this.#parts.counters.add('spool_unwritable', -countOccurrences(batch.groups))
    } catch (error) {
      if (!isRefusal(this.#parts.database, error)) return false
    }
    this.#unspooled = null
    return true
  }

  #spoolSync(batch: Batch): Receipt {
    try {
      return this.#parts.spool.putSync(batch) ? this.#onSpooled() : this.#lose(batch, 'spool_full')
    } catch (error) {
      this.#warnUnwritable(error)
      return this.#lose(batch, 'spool_unwritable')
    }
  }

  /** Starts an import, because the outage may have ended after the last import listed the folder. */
  #onSpooled(): Receipt {
    this.#announceSpool()
    if (this.#mode.spoolOnly) this.#parts.onSpooled()
    else if (!this.#isEnding) void this.import()
    return { state: this.#mode.journal || this.#mode.spoolOnly ? 'accepted' : 'spooled' }
  }

  /** Moves the oldest open groups to disk, because too many events wait for the intake. */
  #spill(): void {
    this.#parts.counters.add('buffer_overflow')
    const taken = this.#take()
    // A queue of spills would fill memory during a storm.
    if (this.#spilling) this.#settle(taken, this.#spoolSync(taken.batch))
    else {
      this.#spilling = this.#spool(taken.batch).then((receipt) => {
        this.#spilling = null
        return this.#settleInBatches(taken, receipt)
      })
    }
  }

  #setAside(batch: Batch, error: unknown): Receipt {
    this.#parts.spool.putFailed(batch)
    reportRefused(this.#parts, batch.groups, error)
    return { state: 'lost', reason: 'refused_by_database' }
  }

  #lose(batch: Batch, reason: string): Receipt {
    this.#parts.counters.add(reason, countOccurrences(batch.groups))
    return { state: 'lost', reason }
  }

  #warnUnwritable(error: unknown): void {
    this.#parts.warn(`Errors are lost: cannot write to the database or the spool folder: ${failureMessage(error)}`)
  }

  #startOutage(error: unknown): void {
    if (!this.#outage.begin(failureMessage(error))) return
    this.#parts.counters.add('database_unavailable')
    this.#isSpoolAnnounced = false
    this.#parts.warn(failureMessage(error))
  }

  /** Logs the spool folder once per outage, after the first successful write: a full disk may contain no files. */
  #announceSpool(): void {
    if (this.#isSpoolAnnounced || !this.#isUnavailable) return
    this.#isSpoolAnnounced = true
    this.#parts.warn(
      `Errors are written to ${this.#parts.spool.folder} and imported when the database is available again.`,
    )
  }

  async #endOutage(): Promise<void> {
    await this.import()
    if (!this.#isUnavailable) this.#parts.warn('The database is available again. Imported the spooled errors.')
  }
}
