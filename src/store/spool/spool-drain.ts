import type { Batch } from '../recording/batch.js'
import type { Spool } from './spool.js'

/** A batch on disk. The file is claimed by this process, or free. */
export interface SpooledBatch {
  batch: Batch
  file: string
  spool: Spool
  /** Size of a file that was read. */
  bytes?: number
}

export interface DrainParts {
  spools: readonly Spool[]
  /** Most rows of one transaction. */
  maxRows: number
  /** Writes batches in one transaction. */
  write(batches: readonly Batch[]): Promise<unknown>
  /** Whether the database rejects a batch itself, so that a retry cannot succeed. */
  isRefusal(error: unknown): boolean
  onRefused(batch: Batch, error: unknown): void
  isUnavailable(): boolean
  onUnavailable(error: unknown): void
  onFailed(error: unknown): void
}

/**
 * How often the folders are listed without a known reason. Other processes leave files there when they die. Listing an
 * empty folder takes a fraction of a millisecond off the main thread.
 */
const SWEEP_MS = 3000
/** Batches of one transaction. Thousands of files with one error each must be imported within seconds. */
const MAX_BATCHES = 1000
/** Bytes of the files of one transaction. They are in memory at the same time. */
const MAX_FILE_BYTES = 4 * 1024 * 1024
/** Journaled batches kept in memory while they wait for the database. Further batches are read from disk later. */
const MAX_JOURNALED_ROWS = 2000
const MAX_JOURNALED = 100

/**
 * Moves batches from disk to the database: journaled batches, which are still in memory, and every file that waits in
 * the folders. One transaction runs at a time and contains both kinds, so that neither holds up the other.
 *
 * Invariant: while the database is reachable and a file waits, either the drain is running or a sweep is due. Every
 * release of a file therefore ends with `importFiles`.
 */
export class SpoolDrain {
  readonly #parts: DrainParts
  readonly #journaled: SpooledBatch[] = []
  readonly #sweep: NodeJS.Timeout
  #writing: readonly SpooledBatch[] = []
  #running: Promise<void> | null = null
  /** The files of the current listing that are still to be claimed. */
  #files: AsyncGenerator<SpooledBatch> | null = null
  /** Whether a file may wait that no listing has seen yet. */
  #hasUnlistedFiles = false
  /** Claimed last, so that a file that keeps failing does not hold up the other files. */
  #failedFile: string | null = null
  /** Starts over from one batch after a failure, and doubles with each success. */
  #maxBatches = MAX_BATCHES
  #isClosed = false

  constructor(parts: DrainParts) {
    this.#parts = parts
    this.#sweep = setInterval(() => void this.importFiles(), SWEEP_MS).unref()
  }

  /** Batches in memory that wait or are being written. */
  get size(): number {
    return this.#journaled.length + this.#writing.length
  }

  get isRunning(): boolean {
    return this.#running !== null
  }

  get hasRoom(): boolean {
    return this.#journaled.length < MAX_JOURNALED && this.#journaledRows() < MAX_JOURNALED_ROWS
  }

  /** Writes a batch whose file exists, without reading the file again. */
  add(spooled: SpooledBatch): void {
    if (this.#isClosed) return
    this.#journaled.push(spooled)
    // Not at once: the caller may be the handler of an error that ends the process.
    if (!this.#running) setImmediate(() => void this.run())
  }

  /** Imports the files that wait in the folders. Never rejects. */
  importFiles(): Promise<void> {
    this.#hasUnlistedFiles = true
    return this.run()
  }

  /** Runs until nothing waits, or the database is away. Never rejects. */
  run(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    this.#running ??= this.#drain().then(
      () => {
        this.#running = null
        // Added after the last check of the loop.
        if (this.#hasWork()) void this.run()
      },
      (error: unknown) => {
        // An immediate retry could loop forever. The next sweep tries again.
        this.#running = null
        for (const { spool, file } of [...this.#writing, ...this.#journaled.splice(0)]) void spool.release(file)
        this.#writing = []
        this.#parts.onFailed(error)
      },
    )
    return this.#running
  }

  /** Commits one waiting file as proof that the database accepts errors. True if no file waits. */
  async commitOneFile(): Promise<boolean> {
    for await (const file of this.#claimFiles()) return this.#commit([file])
    return true
  }

  close(): void {
    this.#isClosed = true
    this.#journaled.length = 0
    clearInterval(this.#sweep)
  }

  #journaledRows(): number {
    return this.#journaled.reduce((rows, spooled) => rows + rowsIn(spooled), 0)
  }

  #hasWork(): boolean {
    return this.#journaled.length > 0 || (this.#hasUnlistedFiles && !this.#parts.isUnavailable())
  }

  async #drain(): Promise<void> {
    while (!this.#parts.isUnavailable()) {
      this.#writing = await this.#nextBatches()
      if (this.#writing.length === 0) return
      await this.#commit(this.#writing)
      this.#writing = []
    }
    this.#files = null
    for (const { spool, file } of this.#journaled.splice(0)) await spool.release(file)
    this.#hasUnlistedFiles = true
  }

  async #nextBatches(): Promise<SpooledBatch[]> {
    const batches: SpooledBatch[] = []
    // Journaled batches that wait get half of the transaction. The size of a file is known only after it was claimed.
    const share = this.#journaled.length > 0 ? 0.5 : 1
    const most = this.#maxBatches * share
    const mostRows = this.#parts.maxRows * share
    let rows = 0
    let bytes = 0
    while (batches.length < most && rows < mostRows && bytes < MAX_FILE_BYTES) {
      const file = await this.#nextFile()
      if (!file) break
      batches.push(file)
      rows += rowsIn(file)
      bytes += file.bytes ?? 0
    }
    for (let next = this.#journaled[0]; next; next = this.#journaled[0]) {
      rows += rowsIn(next)
      const isFull = batches.length >= this.#maxBatches || rows > this.#parts.maxRows
      if (isFull && batches.length > 0) break
      batches.push(next)
      this.#journaled.shift()
    }
    return batches
  }

  async #nextFile(): Promise<SpooledBatch | null> {
    if (!this.#files) {
      if (!this.#hasUnlistedFiles) return null
      this.#hasUnlistedFiles = false
      this.#files = this.#claimFiles()
    }
    const next = await this.#files.next()
    if (next.done) this.#files = null
    return next.value ?? null
  }

  async *#claimFiles(): AsyncGenerator<SpooledBatch> {
    for (const spool of this.#parts.spools) {
      for await (const claimed of spool.claim(this.#failedFile)) yield { ...claimed, spool }
    }
  }

  /** Returns false if the database is unavailable. The files then wait for a later attempt. */
  async #commit(batches: readonly SpooledBatch[]): Promise<boolean> {
    try {
      await this.#parts.write(batches.map(({ batch }) => batch))
      this.#maxBatches = Math.min(MAX_BATCHES, this.#maxBatches * 2)
      for (const { spool, file } of batches) await spool.remove(file)
      return true
    } catch (error) {
      if (this.#parts.isRefusal(error)) return this.#commitEach(batches, error)
      this.#maxBatches = 1
      if (batches.length === 1) this.#failedFile = batches[0]?.file ?? null
      for (const { spool, file } of batches) await spool.release(file)
      this.#parts.onUnavailable(error)
      return false
    }
  }

  /** Separates the batch that the database rejects from the others. */
  async #commitEach(batches: readonly SpooledBatch[], error: unknown): Promise<boolean> {
    const [first, ...others] = batches
    if (first && others.length === 0) {
      await first.spool.setAside(first.file)
      this.#parts.onRefused(first.batch, error)
      return true
    }
    let isAvailable = true
    for (const { batch, ...rest } of batches) {
      if (!isAvailable) await rest.spool.release(rest.file)
      else isAvailable = await this.#commit([{ ...rest, batch: { ...batch, mayBeCommitted: true } }])
    }
    return isAvailable
  }
}

function rowsIn({ batch }: SpooledBatch): number {
  return batch.groups.reduce((rows, { kept }) => rows + kept.length, 0)
}
