import { randomUUID } from 'node:crypto'
import type { Counters } from '../model/counters.js'
import { TrackerError } from '../model/errors.js'
import type { ErrorEvent } from '../model/event.js'
import { applicationId } from './applications.js'
import type { Database } from './database.js'
import { FoldedGroup } from './fold.js'
import { type Batch, type BatchOutcome, type GroupOutcome, isWritten, recordBatch } from './record-batch.js'
import type { Spool } from './spool.js'
import { trimOccurrences } from './trim.js'

export interface RecorderParts {
  database: Database
  spool: Spool
  counters: Counters
  application_name: string
  max_occurrences_per_error: number
  now(): number
  /** Resolves when the schema is there; rejects, with a reason worth printing, when it is not. */
  open(): Promise<void>
  warn(sentence: string): void
}

/** `recorded`: committed. `accepted`: safe in the spool, committed soon. `spooled`: the database is away for now. */
export type Receipt =
  | { state: 'recorded'; outcome: GroupOutcome; occurrence_count: number }
  | { state: 'accepted' | 'spooled' }
  | { state: 'lost'; reason: string }

interface Waiter {
  hash_signature: string
  /** The event's own number among those of its group in this batch, from 1. */
  ordinal: number
  settle(receipt: Receipt): void
}

interface OpenBatch {
  groups: Map<string, FoldedGroup>
  waiters: Waiter[]
  size: number
}

const PROBE_MS = { first: 1000, longest: 30_000 }
/** Journalled batches held in memory while they wait for the database; further ones wait on disk only. */
const MAX_QUEUED = 8
/** Distinct groups that may gather in memory before they go to disk instead. */
const MAX_OPEN_GROUPS = 5000

/**
 * The write path. Events of all callers gather and are folded per signature; one flush runs at a time, and what comes
 * meanwhile shares the next one. When the database is away, batches go to the spool and are imported when it is back.
 */
export class Recorder {
  readonly #parts: RecorderParts
  #open: OpenBatch = emptyBatch()
  #inFlight: Batch | null = null
  #journalling: Batch | null = null
  #queue: { batch: Batch; file: string }[] = []
  #working: Promise<void> | null = null
  #scheduled = false
  #application_id: number | null = null
  #away: { since: number; wait: number; timer: NodeJS.Timeout } | null = null
  #importing: Promise<number> | null = null
  #journal: boolean
  #closed = false
  last_flush_at: number | null = null

  constructor(parts: RecorderParts, { journal }: { journal: boolean }) {
    this.#parts = parts
    this.#journal = journal
    void parts.open().then(
      () => this.import(),
      (error) => this.#goAway(error),
    )
  }

  /** Settles when the event is committed or, in journal mode, when it is on disk. Never rejects. */
  record(event: ErrorEvent): Promise<Receipt> {
    const batch = this.#open
    let group = batch.groups.get(event.hash_signature)
    if (!group) {
      group = new FoldedGroup(event)
      batch.groups.set(event.hash_signature, group)
    }
    group.add(event, this.#parts.max_occurrences_per_error)
    batch.size++
    const { count } = group
    return new Promise((settle) => {
      batch.waiters.push({ hash_signature: event.hash_signature, ordinal: count, settle })
      this.#schedule()
      if (batch.groups.size >= MAX_OPEN_GROUPS) this.#overflow()
    })
  }

  get state(): { buffered: number; queued: number; away_since: number | null; last_flush_at: number | null } {
    return {
      buffered: this.#open.size,
      queued: this.#queue.length,
      away_since: this.#away?.since ?? null,
      last_flush_at: this.last_flush_at,
    }
  }

  /** Writes everything that was handed over before this call. */
  async flush(): Promise<void> {
    while (this.#open.size > 0 || this.#queue.length > 0 || this.#working) {
      await (this.#working ?? this.#start())
    }
  }

  /** Imports the batches that wait on disk; gives how many were written. */
  import(): Promise<number> {
    this.#importing ??= this.#importAll().finally(() => {
      this.#importing = null
    })
    return this.#importing
  }

  async close(): Promise<void> {
    await this.flush()
    await this.#importing
    this.#closed = true
    if (this.#away) clearTimeout(this.#away.timer)
    this.#parts.spool.close()
  }

  /**
   * For a process that is ending: what is in memory goes to disk in one go. A batch that was being written goes too;
   * its id tells the import whether it had been committed.
   */
  spoolNow(): void {
    const left = [this.#inFlight, this.#journalling, this.#open.size > 0 ? this.#close() : null].filter(
      (batch) => batch !== null,
    )
    this.#open = emptyBatch()
    for (const batch of left) this.#parts.spool.putSync({ ...batch, tried_before: true })
    this.#parts.spool.close()
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
      if (this.#open.size > 0) this.#schedule()
    })
    return this.#working
  }

  async #work(): Promise<void> {
    const committing = this.#commitQueue()
    while (this.#open.size > 0) {
      const { waiters } = this.#open
      const batch = this.#close()
      if (this.#journal && !this.#away) await this.#acknowledgeOnDisk(batch, waiters)
      else await this.#commit(batch, waiters)
    }
    await committing
    await this.#commitQueue()
  }

  /** Takes up to one transaction's worth of groups out of the open batch. */
  #close(): Batch {
    const limit = this.#parts.database.dialect.flush_limit
    const open = this.#open
    const rest = emptyBatch()
    const groups: FoldedGroup[] = []
    let size = 0
    for (const group of open.groups.values()) {
      if (groups.length > 0 && size + group.kept.length > limit) {
        rest.groups.set(group.hash_signature, group)
        rest.size += group.count
      } else {
        group.thin(this.#parts.max_occurrences_per_error)
        groups.push(group)
        size += group.kept.length
      }
    }
    for (const waiter of open.waiters) if (rest.groups.has(waiter.hash_signature)) rest.waiters.push(waiter)
    if (rest.size > 0)
      open.waiters.splice(
        0,
        open.waiters.length,
        ...open.waiters.filter(({ hash_signature }) => !rest.groups.has(hash_signature)),
      )
    this.#open = rest
    return { batch_id: randomUUID(), application_name: this.#parts.application_name, groups, tried_before: false }
  }

  async #acknowledgeOnDisk(batch: Batch, waiters: readonly Waiter[]): Promise<void> {
    this.#journalling = batch
    let file: string | null = null
    try {
      file = await this.#parts.spool.put(batch)
    } catch (error) {
      this.#parts.counters.add('spool_unwritable')
      this.#parts.warn(
        `The spool folder cannot be written (${reasonOf(error)}): async_logging keeps errors in memory until they are committed.`,
      )
    }
    this.#journalling = null
    for (const { settle } of waiters) settle({ state: 'accepted' })
    if (file === null) return this.#commit(batch, [])
    if (this.#queue.length >= MAX_QUEUED) {
      await this.#parts.spool.release(file)
      void this.import()
      return
    }
    this.#queue.push({ batch, file })
    void this.#commitQueue()
  }

  #committing: Promise<void> | null = null

  #commitQueue(): Promise<void> {
    this.#committing ??= this.#commitQueued().finally(() => {
      this.#committing = null
    })
    return this.#committing
  }

  async #commitQueued(): Promise<void> {
    for (let next = this.#queue[0]; next; next = this.#queue[0]) {
      if (this.#away) await this.#parts.spool.release(next.file)
      else await this.#commitFile(next.batch, next.file)
      this.#queue.shift()
    }
  }

  /** Writes a batch that is on disk already. */
  async #commitFile(batch: Batch, file: string): Promise<boolean> {
    try {
      await this.#write(batch)
      await this.#parts.spool.remove(file)
      return true
    } catch (error) {
      if (this.#parts.database.dialect.faultOf(error) === 'statement') {
        this.#refused(error)
        await this.#parts.spool.setAside(file)
      } else {
        await this.#parts.spool.release(file)
        this.#goAway(error)
      }
      return false
    }
  }

  /** Writes a batch that is in memory only; when that fails, it goes to disk. */
  async #commit(batch: Batch, waiters: readonly Waiter[]): Promise<void> {
    this.#inFlight = batch
    try {
      await this.#parts.open()
      if (this.#away) throw new Error('the database is away')
      const outcome = await this.#write(batch)
      this.#inFlight = null
      settleRecorded(waiters, batch, outcome)
    } catch (error) {
      this.#inFlight = null
      await this.#rescue(batch, waiters, error)
    }
  }

  async #rescue(batch: Batch, waiters: readonly Waiter[], error: unknown): Promise<void> {
    const refused =
      !this.#away && !(error instanceof TrackerError) && this.#parts.database.dialect.faultOf(error) === 'statement'
    if (refused && batch.groups.length > 1) return this.#commitOneByOne(batch, waiters)
    const receipt = await this.#toDisk({ ...batch, tried_before: true }, refused)
    for (const { settle } of waiters) settle(receipt)
    if (refused) this.#refused(error)
    else if (!this.#away) this.#goAway(error)
  }

  /** The database refused something in the batch: the groups that it takes are written, the one it refuses is set aside. */
  async #commitOneByOne(batch: Batch, waiters: readonly Waiter[]): Promise<void> {
    for (const group of batch.groups) {
      await this.#commit(
        { ...batch, batch_id: randomUUID(), groups: [group] },
        waiters.filter(({ hash_signature }) => hash_signature === group.hash_signature),
      )
    }
  }

  async #toDisk(batch: Batch, refused: boolean): Promise<Receipt> {
    try {
      const file = await this.#parts.spool.put(batch)
      if (file === null) return this.#lose(batch, 'spool_full')
      await (refused ? this.#parts.spool.setAside(file) : this.#parts.spool.release(file))
      return refused ? { state: 'lost', reason: 'refused_by_database' } : { state: 'spooled' }
    } catch (error) {
      this.#parts.warn(`An error could be written neither to the database nor to the spool folder: ${reasonOf(error)}`)
      return this.#lose(batch, 'spool_unwritable')
    }
  }

  #lose(batch: Batch, reason: string): Receipt {
    this.#parts.counters.add(
      reason,
      batch.groups.reduce((sum, { count }) => sum + count, 0),
    )
    return { state: 'lost', reason }
  }

  async #write(batch: Batch): Promise<BatchOutcome> {
    const { database, now } = this.#parts
    try {
      const application_id = await this.#applicationId(batch.application_name)
      const outcome = await recordBatch(database, batch, application_id, now())
      this.last_flush_at = now()
      await this.#trim(batch, outcome)
      return outcome
    } catch (error) {
      const refused = database.dialect.faultOf(error) === 'statement'
      if (refused && (await isWritten(database.read, batch.batch_id))) return { duplicate: true, groups: new Map() }
      throw error
    }
  }

  async #applicationId(name: string): Promise<number> {
    const { database, application_name, now } = this.#parts
    if (name !== application_name) return applicationId(database, name, now())
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
      await trimOccurrences(this.#parts.database, group.id, keep).catch((error: unknown) => {
        // The rows are surplus, not wrong: the next flush of the group tries again.
        this.#parts.counters.add('trim_failed')
        this.#parts.warn(`Old occurrences could not be removed: ${reasonOf(error)}`)
      })
    }
  }

  /** Too many distinct groups in one turn of the event loop: they are written without waiting for its end. */
  #overflow(): void {
    this.#parts.counters.add('buffer_overflow')
    const { waiters } = this.#open
    const batch = this.#close()
    void this.#toDisk(batch, false).then((receipt) => {
      for (const { settle } of waiters) settle(receipt)
      void this.import()
    })
  }

  #refused(error: unknown): void {
    this.#parts.counters.add('refused_by_database')
    this.#parts.warn(
      `The database refused a batch, which is kept as a .failed file in ${this.#parts.spool.folder}: ${reasonOf(error)}`,
    )
  }

  #goAway(error: unknown): void {
    if (this.#closed) return
    if (!this.#away) {
      this.#parts.counters.add('database_away')
      this.#parts.warn(
        `${reasonOf(error)}\n  Errors are kept in ${this.#parts.spool.folder} and are imported when the database is back.`,
      )
    }
    const wait = this.#away ? Math.min(this.#away.wait * 2, PROBE_MS.longest) : PROBE_MS.first
    if (this.#away) clearTimeout(this.#away.timer)
    this.#away = {
      since: this.#away?.since ?? this.#parts.now(),
      wait,
      timer: setTimeout(() => void this.#probe(), wait).unref(),
    }
  }

  async #probe(): Promise<void> {
    try {
      await this.#parts.open()
      await isWritten(this.#parts.database.read, 'probe')
    } catch (error) {
      this.#goAway(error)
      return
    }
    this.#away = null
    await this.import()
    if (!this.#away) this.#parts.warn('The database is back; what was spooled meanwhile is imported.')
  }

  async #importAll(): Promise<number> {
    let written = 0
    for await (const { batch, file } of this.#parts.spool.claim()) {
      if (this.#away) {
        await this.#parts.spool.release(file)
        break
      }
      if (!(await this.#commitFile(batch, file))) {
        if (this.#away) break
      } else written++
    }
    return written
  }
}

function emptyBatch(): OpenBatch {
  return { groups: new Map(), waiters: [], size: 0 }
}

function settleRecorded(waiters: readonly Waiter[], batch: Batch, { groups }: BatchOutcome): void {
  const counts = new Map(batch.groups.map(({ hash_signature, count }) => [hash_signature, count]))
  for (const { hash_signature, ordinal, settle } of waiters) {
    const outcome = groups.get(hash_signature)
    if (!outcome) {
      settle({ state: 'spooled' })
      continue
    }
    const occurrence_count = outcome.occurrence_count - (counts.get(hash_signature) ?? 0) + ordinal
    settle({ state: 'recorded', outcome, occurrence_count })
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
