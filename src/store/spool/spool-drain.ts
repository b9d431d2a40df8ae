import type { Batch } from '../recording/batch.js'
import type { Spool } from './spool.js'

/** Batch on disk. The file is unclaimed, or claimed by this process. */
export interface SpooledBatch {
  batch: Batch
  file: string
  spool: Spool
  /** File size, if the file was read. */
  bytes?: number
}

export interface DrainParts {
  spools: readonly Spool[]
  /** Row limit of one transaction. */
  maxRows: number
  /** Writes batches in one transaction. */
  write(batches: readonly Batch[]): Promise<unknown>
  /** Returns true if the database refuses the data, so that a retry cannot succeed. */
  isRefusal(error: unknown): boolean
  onRefused(batch: Batch, error: unknown): void
  isUnavailable(): boolean
  onUnavailable(error: unknown): void
  onFailed(error: unknown): void
}

/**
 * Interval of the regular folder listing, because processes that die leave files there. Listing an empty folder takes a
 * fraction of a millisecond outside the main thread.
 */
const SWEEP_INTERVAL_MS = 3000
/** Limits the batches of one transaction. High enough to import thousands of small files within seconds. */
const MAX_BATCHES = 1000
/** Limits the file bytes of one transaction, because all of its files are in memory at the same time. */
const MAX_FILE_BYTES = 4 * 1024 * 1024
/** Limits the journaled batches in memory. Further batches are read from disk later. */
const MAX_JOURNALED_ROWS = 2000
const MAX_JOURNALED = 100

/**
 * Imports batches from disk: journaled batches, which are still in memory, and files in the spool folders. One
 * transaction runs at a time and contains both kinds, so that neither delays the other.
 *
 * Invariant: while the database is available and a file is pending, the drain is running or a sweep is scheduled. Every
 * release of a file therefore ends with `importFiles`.
 */
export class SpoolDrain {
  readonly #parts: DrainParts
  readonly #journaled: SpooledBatch[] = []
  readonly #sweep: NodeJS.Timeout
  #writing: readonly SpooledBatch[] = []
  #running: Promise<void> | null = null
  /** Unclaimed files of the current listing. */
  #files: AsyncGenerator<SpooledBatch> | null = null
  /** True if files may have been added since the last listing. */
  #hasUnlistedFiles = false
  /** Claimed last, so that a file that keeps failing does not delay other files. */
  #failedFile: string | null = null
  /** Reset to one batch after a failure, doubled after each success. */
  #maxBatches = MAX_BATCHES
  #isClosed = false

  constructor(parts: DrainParts) {
    this.#parts = parts
    this.#sweep = setInterval(() => void this.importFiles(), SWEEP_INTERVAL_MS).unref()
  }

  /** Number of batches in memory, pending or being written. */
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
    // Deferred, because the caller may be handling an error that ends the process.
    if (!this.#running) setImmediate(() => void this.run())
  }

  /** Imports all files in the spool folders. Never rejects. */
  importFiles(): Promise<void> {
    this.#hasUnlistedFiles = true
    return this.run()
  }

  /** Runs until no batch is pending or the database is unavailable. Never rejects. */
  run(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    this.#running ??= this.#drain().then(
      () => {
        this.#running = null
        // A batch may have been added after the last check of the loop.
        if (this.#hasWork()) void this.run()
      },
      (error: unknown) => {
        // An immediate retry could loop forever. The next sweep retries.
        this.#running = null
        for (const { spool, file } of [...this.#writing, ...this.#journaled.splice(0)]) void spool.release(file)
        this.#writing = []
        this.#parts.onFailed(error)
      },
    )
    return this.#running
  }

  /** Commits one file to verify that the database accepts errors. Returns true without files. */
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
    return this.#journaled.reduce((rows, spooled) => rows + countRows(spooled), 0)
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
    // Journaled batches get half of the transaction. The size of a file is unknown until it is claimed.
    const share = this.#journaled.length > 0 ? 0.5 : 1
    const maxFileBatches = this.#maxBatches * share
    const maxFileRows = this.#parts.maxRows * share
    let rows = 0
    let bytes = 0
    while (batches.length < maxFileBatches && rows < maxFileRows && bytes < MAX_FILE_BYTES) {
      const file = await this.#nextFile()
      if (!file) break
      batches.push(file)
      rows += countRows(file)
      bytes += file.bytes ?? 0
    }
    for (let next = this.#journaled[0]; next; next = this.#journaled[0]) {
      rows += countRows(next)
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

  /** Returns false if the database is unavailable. A later attempt imports the files. */
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

  /** Commits each batch separately and sets aside those that the database refuses. */
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

function countRows({ batch }: SpooledBatch): number {
  return batch.groups.reduce((rows, { kept }) => rows + kept.length, 0)
}
