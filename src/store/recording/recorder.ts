import { randomUUID } from 'node:crypto'
import type { ErrorEvent } from '../../model/event.js'
import { failureMessage } from '../../model/own-words.js'
import { Absence } from '../spool/absence.js'
import { type HandOver, handedOver } from '../spool/hand-over.js'
import type { Spool } from '../spool/spool.js'
import { SpoolDrain } from '../spool/spool-drain.js'
import type { Batch } from './batch.js'
import { BatchWriter, occurrencesOf, type WriterParts } from './batch-writer.js'
import { FoldedGroup } from './fold.js'
import { OpenBatch, type OpenGroup, type Receipt, type Settle, settleAll, settleRecorded } from './open-batch.js'
import { isRefusal } from './record-batch.js'

export type { Receipt } from './open-batch.js'

export interface RecorderParts extends WriterParts {
  /** Where what may end the process is written before anything else is done with it; null without crash capture. */
  crashes: Spool | null
  /** With `journal`: others write what they take; the rest is kept on disk. Null: everything is. */
  handOver: HandOver | null
  /** Called when files were left in the spool that another thread is to import. */
  onLeft(): void
}

export interface RecorderMode {
  /** A batch is acknowledged as soon as it is on disk or with the job engine, whatever the database does. */
  journal: boolean
  /** Every batch is left in the spool: the database must not be touched from here. */
  by_spool: boolean
}

/** Files of single events that wait for the database. Beyond it, events of a surviving process share files again. */
const MAX_AT_ONCE = 50

/** Events that left the open batch together, and their callers. */
interface Taken {
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
 * The drain waits for the database only. Neither waits for the other, except in `flush`.
 */
export class Recorder {
  readonly #parts: RecorderParts
  readonly #writer: BatchWriter
  readonly #absence: Absence
  readonly #drain: SpoolDrain
  readonly #open: OpenBatch
  readonly #taken = new Set<Batch>()
  readonly #mode: RecorderMode
  #intake: Promise<void> | null = null
  #spilling: Promise<void> | null = null
  #isScheduled = false
  #atOnce: { batch_id: string | null } | null = null
  #isEnding = false
  #isSpoolAnnounced = false
  #unspooled: Batch | null = null
  /** By `performance.now()`: when a caller last received an acknowledgment. */
  #settledAt = -Infinity
  /** Number of events since the start. */
  received = 0

  constructor(parts: RecorderParts, mode: RecorderMode) {
    this.#parts = parts
    this.#mode = mode
    this.#writer = new BatchWriter(parts)
    this.#drain = new SpoolDrain({
      spools: parts.crashes ? [parts.spool, parts.crashes] : [parts.spool],
      maxRows: parts.database.dialect.flush_limit,
      write: (batches) => this.#writer.writeTogether(batches),
      isRefusal: (error) => isRefusal(parts.database, error),
      onRefused: ({ groups }, error) => this.#writer.refused(groups, error),
      isAway: () => this.#isAway,
      onUnavailable: (error) => {
        this.#goAway(error)
        this.#announceSpool()
      },
      onFailed: (error) => parts.warn(`Cannot import from ${parts.spool.folder}: ${failureMessage(error)}`),
    })
    this.#absence = new Absence({
      now: parts.now,
      isBack: async () =>
        (await this.#writer.isBack()) && (await this.#commitUnspooled()) && this.#drain.commitOneFile(),
      onBack: () => this.#comeBack(),
    })
    this.#open = new OpenBatch(parts.max_occurrences_per_error)
    void parts.spool.refreshSize()
    if (mode.by_spool) this.#drain.close()
    else {
      void parts.open().then(
        () => this.import(),
        (error) => this.#goAway(error),
      )
    }
  }

  /** Settles when the event is committed or, in journal mode, when it is on disk. Never rejects. */
  record(event: ErrorEvent): Promise<Receipt> {
    this.received++
    return new Promise((settle) => {
      if (this.#atOnce && this.#toOwnFile(event, settle, this.#atOnce.batch_id)) return
      this.#open.add(event, settle)
      // After the exit event nothing asynchronous runs that could write it later.
      if (this.#isEnding) return this.spoolNow()
      this.#schedule()
      if (this.#open.is_full) this.#spill()
    })
  }

  /**
   * Events recorded during the work are on disk when it returns, in the crash folder if there is one. They are written
   * to the database from there. One id for both lets them count once, whether or not the process survives. A caller that
   * may repeat its work passes an id of its own.
   */
  onDisk(work: () => void, batch_id: string | null = null): void {
    this.#atOnce = { batch_id }
    try {
      work()
    } finally {
      this.#atOnce = null
    }
  }

  get crash_folder(): string | null {
    return this.#parts.crashes?.folder ?? null
  }

  /** Whether an event is being written, or was acknowledged within the given time. */
  hasFresh(milliseconds: number): boolean {
    const isWriting = this.#open.size + this.#taken.size + this.#drain.size > 0
    return isWriting || performance.now() - this.#settledAt < milliseconds
  }

  get state(): { buffered: number; queued: number; away_since: number | null; last_flush_at: number | null } {
    return {
      buffered: this.#open.size,
      queued: this.#drain.size,
      away_since: this.#absence.since,
      last_flush_at: this.last_flush_at,
    }
  }

  get last_flush_at(): number | null {
    return this.#writer.last_flush_at
  }

  get #isAway(): boolean {
    return this.#absence.since !== null
  }

  /** Resolves when everything recorded before this call is in the database or, while that is away, on disk. */
  async flush(): Promise<void> {
    for (;;) {
      if (this.#intake || this.#open.size > 0) await this.#startIntake()
      else if (this.#spilling) await this.#spilling
      else if (this.#drain.size > 0 || this.#drain.isRunning) await this.#drain.run()
      else return
    }
  }

  /** Imports the batches that wait on disk. Never rejects. */
  import(): Promise<void> {
    return this.#drain.importFiles()
  }

  /**
   * Writes a batch that arrived through the job engine. Rejects while the database is away: the engine retries, and
   * keeps the batch better than the disk of the process that happened to receive it.
   */
  async recordHandedOver(text: string): Promise<void> {
    const batch = handedOver(text)
    if (this.#isAway) throw new Error('the database is away')
    try {
      await this.#writer.write(batch)
    } catch (error) {
      if (isRefusal(this.#parts.database, error)) this.#setAside(batch, error)
      else {
        this.#goAway(error)
        throw error
      }
    }
  }

  async close(): Promise<void> {
    await this.flush()
    this.#absence.close()
    this.#drain.close()
    this.#closeSpools()
  }

  /**
   * For a process that may be about to end: moves everything from memory to disk, synchronously. This includes batches
   * that are being written. Their id lets the import detect whether they were committed.
   */
  spoolNow(): void {
    try {
      for (const batch of this.#taken) if (!this.#parts.spool.putSync(batch)) this.#lose(batch, 'spool_full')
      while (this.#open.size > 0) {
        const taken = this.#take()
        this.#settle(taken, this.#toDiskSync(taken.batch))
      }
      if (this.#isEnding) this.#parts.onLeft()
      else void this.import()
    } catch (error) {
      // Thrown from the host's exit event, it would change the host's exit code.
      this.#warnUnwritable(error)
    }
  }

  /** For the exit event. Events from later exit listeners of the host go to disk at once. */
  end(): void {
    this.#isEnding = true
    this.spoolNow()
    this.#closeSpools()
  }

  #closeSpools(): void {
    this.#parts.spool.close()
    this.#parts.crashes?.close()
  }

  /** Writes an event to a file of its own. Returns false if that fails and the event must be recorded as usual. */
  #toOwnFile(event: ErrorEvent, settle: Settle, batch_id: string | null): boolean {
    if (this.#drain.size >= MAX_AT_ONCE) return false
    const { crashes, spool, application_name } = this.#parts
    const group = new FoldedGroup(event)
    group.add(event, 1)
    // The file is free: another process may import it first.
    const batch = { batch_id: batch_id ?? randomUUID(), application_name, groups: [group], tried_before: true }
    if (!(crashes && this.#isKeptIn(crashes, batch)) && !this.#isKeptIn(spool, batch)) return false
    // An event that an earlier process left behind does not explain why this process ends.
    if (batch_id === null) this.#settledAt = performance.now()
    settle({ state: 'accepted' })
    return true
  }

  #isKeptIn(spool: Spool, batch: Batch): boolean {
    try {
      const file = spool.putSync(batch)
      if (file === null) return false
      if (this.#mode.by_spool) this.#parts.onLeft()
      else this.#drain.add({ batch, file, spool })
      return true
    } catch (error) {
      this.#parts.warn(`${spool.folder} cannot be written: ${failureMessage(error)}`)
      return false
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#intake) return
    this.#isScheduled = true
    // Events of one turn of the event loop share one batch.
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
      const isAcknowledged =
        this.#mode.journal && ((await this.#isHandedOver(taken)) || (await this.#isJournaled(taken)))
      if (!isAcknowledged) await this.#commit(taken)
    }
  }

  /** Takes the groups of one transaction out of the open batch. */
  #take(): Taken {
    const { application_name, database } = this.#parts
    const groups = this.#open.take(database.dialect.flush_limit)
    const folded = groups.map(({ group }) => group)
    const batch = { batch_id: randomUUID(), application_name, groups: folded, tried_before: false }
    this.#taken.add(batch)
    return { batch, groups }
  }

  async #isHandedOver(taken: Taken): Promise<boolean> {
    if ((await this.#parts.handOver?.(taken.batch)) !== true) return false
    this.#settle(taken, { state: 'accepted' })
    return true
  }

  /** Acknowledges a batch once it is on disk, and leaves the rest to the drain. */
  async #isJournaled(taken: Taken): Promise<boolean> {
    const { spool, counters, warn } = this.#parts
    if (this.#mode.by_spool) return false
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
      counters.add('spool_unwritable')
      warn(
        `Cannot write to the spool folder (${failureMessage(error)}). async_logging acknowledges errors after the commit.`,
      )
      return false
    }
  }

  /** Writes a batch that is only in memory. If the database is away, the batch goes to disk. */
  async #commit(taken: Taken): Promise<void> {
    const { batch, groups } = taken
    if (!this.#isAway && !this.#mode.by_spool) {
      try {
        const outcome = await this.#writer.write(batch)
        if (this.#mode.journal) return this.#settle(taken, { state: 'accepted' })
        this.#settledBatch(batch)
        return settleRecorded(groups, outcome)
      } catch (error) {
        if (isRefusal(this.#parts.database, error)) return this.#settle(taken, this.#setAside(batch, error))
        this.#goAway(error)
      }
    }
    this.#settle(taken, await this.#toDisk({ ...batch, tried_before: true }))
  }

  #settle({ batch, groups }: Taken, receipt: Receipt): void {
    this.#settledBatch(batch)
    settleAll(groups, receipt)
  }

  #settledBatch(batch: Batch): void {
    this.#settledAt = performance.now()
    this.#taken.delete(batch)
  }

  async #toDisk(batch: Batch): Promise<Receipt> {
    try {
      const file = await this.#parts.spool.put(batch)
      if (file === null) return this.#lose(batch, 'spool_full')
      await this.#parts.spool.release(file)
      return this.#spooled()
    } catch (error) {
      this.#warnUnwritable(error)
      if (this.#isAway) this.#unspooled ??= batch
      return this.#lose(batch, 'spool_unwritable')
    }
  }

  /**
   * Commits the first batch of an outage that could not be spooled. A full disk accepts a small probe, so only a real
   * batch shows that the outage has ended.
   */
  async #commitUnspooled(): Promise<boolean> {
    const batch = this.#unspooled
    if (batch === null) return true
    try {
      await this.#writer.write(batch)
      this.#parts.counters.add('spool_unwritable', -occurrencesOf(batch.groups))
    } catch (error) {
      if (!isRefusal(this.#parts.database, error)) return false
    }
    this.#unspooled = null
    return true
  }

  #toDiskSync(batch: Batch): Receipt {
    try {
      return this.#parts.spool.putSync(batch) ? this.#spooled() : this.#lose(batch, 'spool_full')
    } catch (error) {
      this.#warnUnwritable(error)
      return this.#lose(batch, 'spool_unwritable')
    }
  }

  /** The outage may have ended while the file was written, after the last import had listed the folder. */
  #spooled(): Receipt {
    this.#announceSpool()
    if (this.#mode.by_spool) this.#parts.onLeft()
    else if (!this.#isEnding) void this.import()
    return { state: this.#mode.journal || this.#mode.by_spool ? 'accepted' : 'spooled' }
  }

  /** Moves the oldest open events to disk, because too many wait for the intake. */
  #spill(): void {
    this.#parts.counters.add('buffer_overflow')
    const taken = this.#take()
    // Queueing spills behind each other would fill the memory during a storm.
    if (this.#spilling) this.#settle(taken, this.#toDiskSync(taken.batch))
    else {
      this.#spilling = this.#toDisk(taken.batch).then((receipt) => {
        this.#spilling = null
        this.#settle(taken, receipt)
      })
    }
  }

  #setAside(batch: Batch, error: unknown): Receipt {
    this.#parts.spool.keepFailed(batch)
    this.#writer.refused(batch.groups, error)
    return { state: 'lost', reason: 'refused_by_database' }
  }

  #lose(batch: Batch, reason: string): Receipt {
    this.#parts.counters.add(reason, occurrencesOf(batch.groups))
    return { state: 'lost', reason }
  }

  #warnUnwritable(error: unknown): void {
    this.#parts.warn(
      `An error could be written neither to the database nor to the spool folder: ${failureMessage(error)}`,
    )
  }

  #goAway(error: unknown): void {
    if (!this.#absence.begin()) return
    this.#parts.counters.add('database_away')
    this.#isSpoolAnnounced = false
    this.#parts.warn(failureMessage(error))
  }

  /** Called after a write to the spool. Reports once per outage where errors are: a full disk may hold none. */
  #announceSpool(): void {
    if (this.#isSpoolAnnounced || !this.#isAway) return
    this.#isSpoolAnnounced = true
    this.#parts.warn(`Errors are kept in ${this.#parts.spool.folder} and are imported when the database is back.`)
  }

  async #comeBack(): Promise<void> {
    await this.import()
    if (!this.#isAway) this.#parts.warn('The database is back. Spooled errors are imported.')
  }
}
