import { randomUUID } from 'node:crypto'
import type { ErrorEvent } from '../model/event.js'
import { ownWords } from '../model/own-words.js'
import { Absence } from './absence.js'
import { BatchWriter, occurrencesOf, type WriterParts } from './batch-writer.js'
import { FoldedGroup } from './fold.js'
import { type HandOver, handedOver } from './hand-over.js'
import { OpenBatch, type OpenGroup, type Receipt, type Settle, settleAll, settleRecorded } from './open-batch.js'
import { type Batch, type BatchOutcome, isRefusal } from './record-batch.js'
import type { Spool } from './spool.js'

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
  /** Every batch is on disk, or handed over, before its callers are told. */
  journal: boolean
  /** Every batch is left in the spool: the database must not be touched from here. */
  by_spool: boolean
}

/** Journalled batches held in memory while they wait for the database; further ones wait on disk only. */
const MAX_QUEUED = 8
/** Files of single events that wait for the database; a host that survives more than that shares its files again. */
const MAX_AT_ONCE = 50

/**
 * The write path. Events of all callers gather and are folded per signature; one flush runs at a time, and what comes
 * meanwhile shares the next one. When the database is away, batches go to the spool and are imported when it is back.
 */
export class Recorder {
  readonly #parts: RecorderParts
  readonly #writer: BatchWriter
  readonly #absence: Absence
  readonly #open: OpenBatch
  /** Batches that are in memory only, neither committed nor on disk yet. */
  readonly #held = new Set<Batch>()
  #queue: { batch: Batch; file: string; spool: Spool }[] = []
  #working: Promise<void> | null = null
  #committing: Promise<void> | null = null
  #spilling: Promise<void> | null = null
  #importing: Promise<number> | null = null
  #importAgain = false
  #scheduled = false
  readonly #mode: RecorderMode
  #at_once: { batch_id: string | null } | null = null
  #ending = false
  /** By `performance.now()`: when a caller was last told that its event is safe. */
  #settled_at = -Infinity
  /** How many events were handed over since the start. */
  received = 0

  constructor(parts: RecorderParts, mode: RecorderMode) {
    this.#parts = parts
    this.#writer = new BatchWriter(parts)
    this.#absence = new Absence({
      now: parts.now,
      isBack: () => this.#writer.isBack(),
      onBack: () => this.#comeBack(),
    })
    this.#open = new OpenBatch(parts.max_occurrences_per_error)
    this.#mode = mode
    if (mode.by_spool) return
    void parts.open().then(
      () => this.import(),
      (error) => this.#goAway(error),
    )
  }

  /** Settles when the event is committed or, in journal mode, when it is on disk. Never rejects. */
  record(event: ErrorEvent): Promise<Receipt> {
    this.received++
    return new Promise((settle) => {
      if (this.#at_once && this.#toOwnFile(event, settle, this.#at_once.batch_id)) return
      this.#open.add(event, settle)
      // Past the exit event nothing runs any more that could write it later.
      if (this.#ending) return this.spoolNow()
      this.#schedule()
      if (this.#open.is_full) this.#spill()
    })
  }

  /**
   * Whatever is recorded during the work is on disk when it returns, in the crash folder where there is one, and is
   * written to the database from there: one id for both, so that it counts once whether the process lives on or not. An
   * id of the caller's own lets work that may be repeated count once too.
   */
  onDisk(work: () => void, batch_id: string | null = null): void {
    this.#at_once = { batch_id }
    try {
      work()
    } finally {
      this.#at_once = null
    }
  }

  get crash_folder(): string | null {
    return this.#parts.crashes?.folder ?? null
  }

  /** Whether an error is still being written, or was handed over within so many milliseconds. */
  hasFresh(milliseconds: number): boolean {
    const waits = this.#open.size + this.#held.size + this.#queue.length > 0
    return waits || performance.now() - this.#settled_at < milliseconds
  }

  get state(): { buffered: number; queued: number; away_since: number | null; last_flush_at: number | null } {
    return {
      buffered: this.#open.size,
      queued: this.#queue.length,
      away_since: this.#absence.since,
      last_flush_at: this.last_flush_at,
    }
  }

  get last_flush_at(): number | null {
    return this.#writer.last_flush_at
  }

  get #is_away(): boolean {
    return this.#absence.since !== null
  }

  /** Writes everything that was handed over before this call. */
  async flush(): Promise<void> {
    for (;;) {
      if (this.#working || this.#open.size > 0 || this.#queue.length > 0) await this.#start()
      else if (this.#spilling) await this.#spilling
      else if (this.#importing) await this.#importing
      else return
    }
  }

  /** Imports the batches that wait on disk; gives how many were written. */
  import(): Promise<number> {
    if (this.#mode.by_spool) return Promise.resolve(0)
    // A file that was released after the running import had looked would otherwise wait for the next start.
    if (this.#importing) this.#importAgain = true
    this.#importing ??= this.#importAll().finally(() => {
      this.#importing = null
      if (!this.#importAgain) return
      this.#importAgain = false
      void this.import()
    })
    return this.#importing
  }

  /**
   * Writes a batch that another process handed over, or this one. Rejects while the database is away: whoever carries it
   * keeps it better than the disk of a process that only happened to get it.
   */
  async recordHandedOver(text: string): Promise<void> {
    const batch = handedOver(text)
    if (this.#is_away) throw new Error('the database is away')
    try {
      await this.#write(batch)
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
    this.#closeSpools()
  }

  /**
   * For a process that may be ending: what is in memory goes to disk in one go. A batch that was being written goes too;
   * its id tells the import whether it had been committed.
   */
  spoolNow(): void {
    try {
      for (const batch of this.#held) if (!this.#parts.spool.putSync(batch)) this.#lose(batch, 'spool_full')
      while (this.#open.size > 0) {
        const { batch, taken } = this.#take()
        const receipt = this.#toDiskAtOnce(batch)
        this.#held.delete(batch)
        this.#settle(taken, receipt)
      }
      if (this.#ending) this.#parts.onLeft()
    } catch (error) {
      // Thrown from the host's exit event, it would change the host's exit code.
      this.#unwritable(error)
    }
  }

  /** For the exit event: what comes even later, from a listener of the host's after ours, goes to disk at once. */
  end(): void {
    this.#ending = true
    this.spoolNow()
    this.#closeSpools()
  }

  #closeSpools(): void {
    this.#parts.spool.close()
    this.#parts.crashes?.close()
  }

  /** Writes an event to a file of its own; gives false when that cannot be, and it has to take the ordinary road. */
  #toOwnFile(event: ErrorEvent, settle: Settle, batch_id: string | null): boolean {
    if (this.#queue.length >= MAX_AT_ONCE) return false
    const { crashes, spool, application_name } = this.#parts
    const group = new FoldedGroup(event)
    group.add(event, 1)
    // Another process that starts meanwhile may import the file before we do.
    const batch = { batch_id: batch_id ?? randomUUID(), application_name, groups: [group], tried_before: true }
    if (!(crashes && this.#keptIn(crashes, batch)) && !this.#keptIn(spool, batch)) return false
    // What an earlier process had left is no sign of why this one ends.
    if (batch_id === null) this.#settled_at = performance.now()
    settle({ state: 'accepted' })
    this.#schedule()
    return true
  }

  #keptIn(spool: Spool, batch: Batch): boolean {
    try {
      const file = spool.putSync(batch)
      if (file !== null) this.#queue.push({ batch, file, spool })
      return file !== null
    } catch (error) {
      this.#parts.warn(`${spool.folder} cannot be written: ${ownWords(error)}`)
      return false
    }
  }

  #schedule(): void {
    if (this.#scheduled || this.#working) return
    this.#scheduled = true
    // Everything that is thrown in this turn of the event loop shares one commit.
    setImmediate(() => {
      this.#scheduled = false
      void this.#start()
    })
  }

  #start(): Promise<void> {
    this.#working ??= this.#work().finally(() => {
      this.#working = null
      if (this.#open.size > 0 || this.#queue.length > 0) this.#schedule()
    })
    return this.#working
  }

  async #work(): Promise<void> {
    void this.#commitQueue()
    while (this.#open.size > 0) {
      const { batch, taken } = this.#take()
      if (await this.#isHandedOver(batch)) {
        this.#held.delete(batch)
        this.#settle(taken, { state: 'accepted' })
      } else if (this.#mode.journal && !this.#mode.by_spool && !this.#is_away)
        await this.#acknowledgeOnDisk(batch, taken)
      else await this.#commit(batch, taken)
    }
    await this.#commitQueue()
  }

  /** Takes one transaction's worth of groups out of the open batch. */
  #take(): { batch: Batch; taken: OpenGroup[] } {
    const { application_name, database } = this.#parts
    const taken = this.#open.take(database.dialect.flush_limit)
    const groups = taken.map(({ group }) => group)
    const batch = { batch_id: randomUUID(), application_name, groups, tried_before: false }
    this.#held.add(batch)
    return { batch, taken }
  }

  async #isHandedOver(batch: Batch): Promise<boolean> {
    const { handOver } = this.#parts
    return this.#mode.journal && (await handOver?.(batch)) === true
  }

  async #acknowledgeOnDisk(batch: Batch, taken: readonly OpenGroup[]): Promise<void> {
    let file: string | null = null
    try {
      file = await this.#parts.spool.put(batch)
    } catch (error) {
      this.#parts.counters.add('spool_unwritable')
      this.#parts.warn(
        `The spool folder cannot be written (${ownWords(error)}): async_logging keeps errors in memory until they are committed.`,
      )
    }
    this.#settle(taken, { state: 'accepted' })
    if (file === null) return this.#commit(batch, [])
    this.#held.delete(batch)
    if (this.#queue.length >= MAX_QUEUED) {
      await this.#parts.spool.release(file)
      void this.import()
      return
    }
    this.#queue.push({ batch, file, spool: this.#parts.spool })
    void this.#commitQueue()
  }

  #commitQueue(): Promise<void> {
    this.#committing ??= this.#commitQueued().finally(() => {
      this.#committing = null
    })
    return this.#committing
  }

  async #commitQueued(): Promise<void> {
    for (let next = this.#queue[0]; next; next = this.#queue[0]) {
      if (this.#is_away || this.#mode.by_spool) await next.spool.release(next.file)
      if (this.#mode.by_spool) this.#parts.onLeft()
      else if (!this.#is_away) await this.#commitFile(next.batch, next.file, next.spool)
      this.#queue.shift()
    }
  }

  /** Writes a batch that is on disk already; gives whether it is in the database now. */
  async #commitFile(batch: Batch, file: string, spool: Spool): Promise<boolean> {
    try {
      await this.#write(batch)
      await spool.remove(file)
      return true
    } catch (error) {
      if (isRefusal(this.#parts.database, error)) {
        await spool.setAside(file)
        this.#writer.refused(batch.groups, error)
      } else {
        await spool.release(file)
        this.#goAway(error)
      }
      return false
    }
  }

  /** Writes a batch that is in memory only; when that fails, it goes to disk. */
  async #commit(batch: Batch, taken: readonly OpenGroup[]): Promise<void> {
    let receipt: Receipt | null = null
    if (!this.#is_away && !this.#mode.by_spool) {
      try {
        settleRecorded(taken, await this.#write(batch))
        this.#settled_at = performance.now()
        this.#held.delete(batch)
        return
      } catch (error) {
        if (isRefusal(this.#parts.database, error)) receipt = this.#setAside(batch, error)
        else this.#goAway(error)
      }
    }
    receipt ??= await this.#toDisk({ ...batch, tried_before: true })
    this.#held.delete(batch)
    this.#settle(taken, receipt)
  }

  #settle(taken: readonly OpenGroup[], receipt: Receipt): void {
    this.#settled_at = performance.now()
    settleAll(taken, receipt)
  }

  async #toDisk(batch: Batch): Promise<Receipt> {
    try {
      const file = await this.#parts.spool.put(batch)
      if (file === null) return this.#lose(batch, 'spool_full')
      await this.#parts.spool.release(file)
      if (!this.#mode.by_spool) return { state: 'spooled' }
      this.#parts.onLeft()
      return { state: 'accepted' }
    } catch (error) {
      this.#unwritable(error)
      return this.#lose(batch, 'spool_unwritable')
    }
  }

  #toDiskAtOnce(batch: Batch): Receipt {
    try {
      return this.#parts.spool.putSync(batch) ? { state: 'spooled' } : this.#lose(batch, 'spool_full')
    } catch (error) {
      this.#unwritable(error)
      return this.#lose(batch, 'spool_unwritable')
    }
  }

  async #write(batch: Batch): Promise<BatchOutcome> {
    const outcome = await this.#writer.write(batch)
    this.#absence.written()
    return outcome
  }

  /** Too much has gathered while a flush is under way: the oldest of it waits on disk instead. */
  #spill(): void {
    this.#parts.counters.add('buffer_overflow')
    const { batch, taken } = this.#take()
    // Were each to wait for the one before, a storm would fill the memory with batches that wait for the disk.
    if (this.#spilling) {
      this.#spilled(batch, taken, this.#toDiskAtOnce(batch))
      return
    }
    this.#spilling = this.#toDisk(batch).then((receipt) => {
      this.#spilling = null
      this.#spilled(batch, taken, receipt)
    })
  }

  #spilled(batch: Batch, taken: readonly OpenGroup[], receipt: Receipt): void {
    this.#held.delete(batch)
    this.#settle(taken, receipt)
    if (!this.#is_away) void this.import()
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

  #unwritable(error: unknown): void {
    this.#parts.warn(`An error could be written neither to the database nor to the spool folder: ${ownWords(error)}`)
  }

  #goAway(error: unknown): void {
    if (!this.#absence.begin()) return
    this.#parts.counters.add('database_away')
    this.#parts.warn(
      `${ownWords(error)}\n  Errors are kept in ${this.#parts.spool.folder} and are imported when the database is back.`,
    )
  }

  async #comeBack(): Promise<void> {
    await this.import()
    if (!this.#is_away) this.#parts.warn('The database is back; what was spooled meanwhile is imported.')
  }

  async #importAll(): Promise<number> {
    const { spool, crashes } = this.#parts
    let written = 0
    for (const waiting of crashes ? [spool, crashes] : [spool]) {
      for await (const { batch, file } of waiting.claim()) {
        if (this.#is_away) {
          await waiting.release(file)
          return written
        }
        if (await this.#commitFile(batch, file, waiting)) written++
      }
    }
    return written
  }
}
