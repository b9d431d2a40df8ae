import { createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { access, readdir, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type * as v from 'valibot'
import type { Options } from '../../config/options.js'
import * as r from '../../model/result.js'
import type { DatabaseTarget } from '../database-target.js'
import { HostYield } from '../dialects/host-yield.js'
import type { Batch } from '../recording/batch.js'
import { FoldedGroup } from '../recording/folded-group.js'
import { isProcessRunning } from './is-process-running.js'

export const SpoolState = r.object({
  folder: r.text,
  /** Number of batches to import. */
  files: r.integer,
  /** Number of batches set aside for manual inspection. */
  failed: r.integer,
  bytes: r.integer,
})
export type SpoolState = v.InferOutput<typeof SpoolState>

/** Batch on disk that only this process may import. */
export interface ClaimedBatch {
  file: string
  batch: Batch
  bytes: number
}

/** Claims of this process. Claims with the same pid that are not in this set belong to an earlier process. */
const liveClaims = new Set<string>()

/** Other processes write to the folder too. Summing the sizes of ten thousand files takes about a second. */
const REFRESH_INTERVAL_MS = 10_000
/** Much longer than any write. */
const ABANDONED_AFTER_MS = 600_000
/** Much longer than any import. The process of an older claim is dead, even if its pid is in use again. */
const CLAIM_LEASE_MS = 300_000
const MAX_OTHER_FILES = 1000
/** Larger files are read by the thread pool. */
const MAX_SYNC_BYTES = 128 * 1024
/** Version 0.4.0 reads and writes version 1. It ignores the file names of version 2. */
const VERSION = 2
const READABLE_VERSIONS: readonly unknown[] = [1, VERSION]

export interface SpoolOptions {
  /** Start of the file names, so that two spools can share a folder. */
  prefix?: string
  maxFiles?: number
  maxFileBytes?: number
}

/**
 * Folder of batches that are not in the database yet, one file each. Files are created atomically under a unique name and
 * claimed by a rename, so that any number of processes can share the folder.
 */
export class Spool {
  readonly folder: string
  readonly #maxBytes: number
  readonly #maxFiles: number
  readonly #maxFileBytes: number
  readonly #prefix: string
  readonly #name: RegExp
  readonly #claim = `${process.pid}-${randomBytes(4).toString('hex')}`
  /** Sizes of the claimed files that this process is importing or writing, by name. */
  readonly #inUse = new Map<string, number>()
  readonly #turn = new HostYield()
  #bytes = 0
  #refreshAfter = -Infinity

  constructor(
    folder: string,
    maxBytes: number,
    { prefix = 'batch', maxFiles = Infinity, maxFileBytes = Infinity }: SpoolOptions = {},
  ) {
    this.folder = folder
    this.#maxBytes = maxBytes
    this.#maxFiles = maxFiles
    this.#maxFileBytes = maxFileBytes
    this.#prefix = prefix
    this.#name = new RegExp(`^(${prefix}-[\\w-]+(?:\\.v2)?\\.ndjson)(?:\\.importing-([\\w-]+))?(\\.tmp)?$`)
    liveClaims.add(this.#claim)
  }

  /**
   * Writes a batch and claims it until it is released or removed. Returns the file, or null if the folder is full. Above
   * half of the size limit, each group keeps only one row. The sums stay exact.
   */
  async put(batch: Batch): Promise<string | null> {
    void this.refreshSize()
    const content = this.#reserve(batch)
    if (content === null) return null
    const file = this.#claimedPath(this.#fileName(batch))
    this.#inUse.set(basename(file), content.length)
    try {
      this.#openFolder()
      await writeFile(`${file}.tmp`, content, { mode: 0o600 })
      await rename(`${file}.tmp`, file)
      return file
    } catch (error) {
      this.#inUse.delete(basename(file))
      this.#bytes -= content.length
      await rm(`${file}.tmp`, { force: true })
      throw error
    }
  }

  /**
   * Reads the size of the folder, at most every ten seconds. Callers do not wait for it, because an acknowledgment must
   * not depend on the number of files.
   */
  async refreshSize(): Promise<void> {
    if (performance.now() < this.#refreshAfter) return
    this.#refreshAfter = Infinity
    const before = this.#bytes
    const { bytes } = await this.state()
    // Files written in between may count twice until the next refresh. They are never missed.
    this.#bytes = Math.max(0, bytes + this.#bytes - before)
    this.#refreshAfter = performance.now() + REFRESH_INTERVAL_MS
  }

  /**
   * Writes a batch synchronously, because the process may be about to end. The file stays unclaimed. Returns the file, or
   * null if the folder is full.
   */
  putSync(batch: Batch): string | null {
    if (this.#maxFiles < Infinity && this.#countBatchFiles() >= this.#maxFiles) return null
    const content = this.#reserve(batch)
    if (content === null) return null
    const name = this.#fileName(batch)
    this.#writeSync(name, content)
    return join(this.folder, name)
  }

  /** Stores a refused batch for manual inspection. Returns false if the folder is full or cannot be written. */
  putFailed(batch: Batch): boolean {
    // Refused batches must leave room for batches that can still be imported.
    if (this.#bytes > this.#maxBytes / 2) return false
    try {
      const content = this.#reserve(batch)
      if (content === null) return false
      this.#writeSync(`${this.#fileName(batch)}.failed`, content)
      return true
    } catch {
      // The caller counts and logs the refusal.
      return false
    }
  }

  /**
   * Writes a file that is not a batch. The name must be unique. Returns false if the folder contains too many such files,
   * which means that no process imports them.
   */
  writeOtherFileSync(name: string, content: Buffer): boolean {
    if (this.#listFilesSync().filter((file) => !this.#name.test(file)).length >= MAX_OTHER_FILES) return false
    this.#openFolder()
    writeFileSync(join(this.folder, `${name}.tmp`), content, { mode: 0o600 })
    renameSync(join(this.folder, `${name}.tmp`), join(this.folder, name))
    return true
  }

  /** Releases a claimed batch for a later import by this or another process. */
  async release(file: string): Promise<void> {
    await rename(file, withoutClaim(file)).catch(ignoreMissing)
    this.#inUse.delete(basename(file))
  }

  async remove(file: string): Promise<void> {
    const name = basename(file)
    const size = this.#inUse.get(name) ?? (await stat(file).catch(ignoreMissing))?.size ?? 0
    await this.#turn.yieldIfDue()
    try {
      unlinkSync(file)
    } catch {
      // Missing, see `ignoreMissing`.
    }
    this.#inUse.delete(name)
    this.#bytes = Math.max(0, this.#bytes - size)
  }

  /** Sets aside a claimed batch that the database refuses, for manual inspection. */
  async setAside(file: string): Promise<void> {
    await rename(file, `${withoutClaim(file)}.failed`).catch(ignoreMissing)
    this.#inUse.delete(basename(file))
  }

  /** Claims batches one by one, oldest first. The file `last` follows all other files. */
  async *claim(last: string | null = null): AsyncGenerator<ClaimedBatch> {
    const lastName = last && basename(withoutClaim(last))
    const names = (await this.listFiles()).sort()
    const isLast = (name: string) => name === lastName
    for (const name of [...names.filter((name) => !isLast(name)), ...names.filter(isLast)]) {
      const unclaimed = await this.#claimableName(name)
      if (unclaimed === null) continue
      const file = this.#claimedPath(unclaimed)
      if (this.#inUse.has(basename(file))) continue
      this.#inUse.set(basename(file), 0)
      // For files in the page cache, synchronous calls take a tenth of the time of the thread pool.
      await this.#turn.yieldIfDue()
      try {
        renameSync(join(this.folder, name), file)
      } catch {
        // Another process claimed the file first.
        this.#inUse.delete(basename(file))
        continue
      }
      const claimed = await this.#read(file)
      if (!claimed) {
        await this.setAside(file)
        continue
      }
      this.#inUse.set(basename(file), claimed.bytes)
      yield claimed
    }
  }

  async #read(file: string): Promise<ClaimedBatch | null> {
    try {
      const descriptor = openSync(file, 'r')
      let bytes: number
      let content: string | null = null
      try {
        bytes = fstatSync(descriptor).size
        if (bytes > this.#maxFileBytes) return null
        if (bytes <= MAX_SYNC_BYTES) content = readFileSync(descriptor, 'utf8')
      } finally {
        closeSync(descriptor)
      }
      const batch = parseBatch(content ?? (await readFile(file, 'utf8')))
      return batch && { file, batch, bytes }
    } catch {
      // The caller sets aside unreadable files.
      return null
    }
  }

  async state(): Promise<SpoolState> {
    const state = { folder: this.folder, files: 0, failed: 0, bytes: 0 }
    for (const name of await this.listFiles()) {
      if (!name.startsWith(`${this.#prefix}-`)) continue
      if (name.endsWith('.failed')) state.failed++
      else if (!name.endsWith('.tmp')) state.files++
      state.bytes += await this.#readSize(name)
    }
    return state
  }

  /** Tries all names of a file, because it may have been claimed or released since the listing. */
  async #readSize(name: string): Promise<number> {
    const unclaimed = withoutClaim(name.replace(/\.tmp$/, ''))
    for (const path of [join(this.folder, name), join(this.folder, unclaimed), this.#claimedPath(unclaimed)]) {
      const size = (await stat(path).catch(ignoreMissing))?.size
      if (size !== undefined) return size
    }
    return 0
  }

  /** Releases all claims, so that the next start imports the files. */
  close(): void {
    liveClaims.delete(this.#claim)
    for (const name of this.#listFilesSync()) {
      const [, unclaimed, claim, isUnfinished] = this.#name.exec(name) ?? []
      if (!unclaimed || claim !== this.#claim) continue
      try {
        if (isUnfinished) unlinkSync(join(this.folder, name))
        else renameSync(join(this.folder, name), join(this.folder, unclaimed))
      } catch {
        // Another process may have claimed the file. The shutdown must continue.
      }
    }
  }

  /** Serializes a batch and reserves its size. Returns null if the folder is full. */
  #reserve(batch: Batch): Buffer | null {
    if (this.#bytes > this.#maxBytes / 2) for (const group of batch.groups) group.trimKeptEvents(1)
    const { batch_id, application_name, groups } = batch
    const content = Buffer.from(
      [{ version: VERSION, batch_id, application_name, group_count: groups.length }, ...groups]
        .map((line) => JSON.stringify(line))
        .join('\n'),
    )
    if (content.length > this.#maxFileBytes || this.#bytes + content.length > this.#maxBytes) return null
    this.#bytes += content.length
    return content
  }

  #writeSync(name: string, content: Buffer): void {
    this.#openFolder()
    const temporary = `${this.#claimedPath(name.replace(/\.failed$/, ''))}.tmp`
    writeFileSync(temporary, content, { mode: 0o600 })
    renameSync(temporary, join(this.folder, name))
  }

  /** Starts with the time of the oldest event, so that names sort chronologically. */
  #fileName({ batch_id, groups }: Batch): string {
    return `${this.#prefix}-${String(groups[0]?.oldest.occurred_at ?? 0).padStart(15, '0')}-${batch_id}.v2.ndjson`
  }

  #countBatchFiles(): number {
    return this.#listFilesSync().filter((name) => this.#name.test(name)).length
  }

  #claimedPath(name: string): string {
    return join(this.folder, `${name}.importing-${this.#claim}`)
  }

  /** Returns the unclaimed name of a file, or null if the file is not a batch or its claim is valid. */
  async #claimableName(name: string): Promise<string | null> {
    const [, unclaimed, claim, isUnfinished] = this.#name.exec(name) ?? []
    if (!unclaimed) return null
    if (!claim) return isUnfinished ? null : unclaimed
    // A file claimed by this spool but not in use could not be renamed when it was released.
    if (claim === this.#claim) return isUnfinished || this.#inUse.has(name) ? null : unclaimed
    const pid = Number(claim.split('-')[0])
    const isLive = pid === process.pid ? liveClaims.has(claim) : isProcessRunning(pid)
    if (isLive && !(await this.#isExpired(name))) return null
    if (!isUnfinished) return unclaimed
    await this.#removeAbandoned(join(this.folder, name))
    return null
  }

  /**
   * Returns true if the process of a claim must have ended and its pid been reused. The rename sets the change time.
   */
  async #isExpired(name: string): Promise<boolean> {
    const claimedAt = (await stat(join(this.folder, name)).catch(ignoreMissing))?.ctimeMs
    return claimedAt !== undefined && Date.now() - claimedAt > CLAIM_LEASE_MS
  }

  /** Deletes an unfinished file of a dead process. Its events were never acknowledged. */
  async #removeAbandoned(file: string): Promise<void> {
    const writtenAt = (await stat(file).catch(ignoreMissing))?.mtimeMs
    // The writer may be a thread or a process in another container, which cannot be checked from here.
    if (writtenAt === undefined || Date.now() - writtenAt < ABANDONED_AFTER_MS) return
    await unlink(file).catch(ignoreMissing)
  }

  /** Returns an empty list before the first write, when the folder does not exist. */
  async listFiles(): Promise<string[]> {
    return this.#isOwnedByUser() ? readdir(this.folder).catch(() => []) : []
  }

  #listFilesSync(): string[] {
    try {
      return this.#isOwnedByUser() ? readdirSync(this.folder) : []
    } catch {
      // The folder does not exist yet.
      return []
    }
  }

  /** Returns why batches could not be written, or null. Creates nothing. */
  async writeProblem(): Promise<string | null> {
    const code = await accessProblem(this.folder)
    if (code !== null) return `${this.folder} is not writable (${code})`
    const exists = (await stat(this.folder).catch(ignoreMissing)) !== undefined
    return exists && !this.#isOwnedByUser() ? `${this.folder} does not belong to the current user` : null
  }

  /** Refuses a folder of another user, because the parent may be a shared temporary directory. */
  #openFolder(): void {
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    } catch {
      // Throws the actual reason: with `recursive`, Node.js reports a read-only file system as ENOENT.
      mkdirSync(this.folder, { mode: 0o700 })
    }
    if (!this.#isOwnedByUser()) {
      throw new Error(`${this.folder} does not belong to the current user. Set spool_path to another folder.`)
    }
  }

  #isOwnedByUser(): boolean {
    try {
      const entry = lstatSync(this.folder)
      return entry.isDirectory() && (!process.getuid || entry.uid === process.getuid())
    } catch {
      // The folder does not exist or is not accessible.
      return false
    }
  }
}

/** Returns the error code for a folder, or for the nearest parent in which it would be created. Null if it is writable. */
async function accessProblem(folder: string): Promise<string | null> {
  try {
    await access(folder, constants.W_OK | constants.X_OK)
    return null
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    return code === 'ENOENT' && folder !== dirname(folder) ? accessProblem(dirname(folder)) : code
  }
}

function withoutClaim(file: string): string {
  return file.replace(/\.importing-[^.]*$/, '')
}

/**
 * Ignores file errors. A file may be missing because another process considered its claim expired, which happens between
 * containers. The batch id prevents double counting. Other disk errors must not stop the recorder: a file that stays
 * claimed is released when its process ends.
 */
function ignoreMissing(): undefined {}

/** Returns null for content that is not a complete batch. */
function parseBatch(text: string): Batch | null {
  const [head = '', ...lines] = text.split('\n')
  const { version, batch_id, application_name, group_count } = JSON.parse(head)
  const groups = lines.filter((line) => line !== '').map((line) => FoldedGroup.fromJSON(JSON.parse(line)))
  const isComplete =
    typeof batch_id === 'string' && typeof application_name === 'string' && groups.length === group_count
  return READABLE_VERSIONS.includes(version) && isComplete
    ? { batch_id, application_name, groups, mayBeCommitted: true }
    : null
}

/** Returns a folder next to an embedded database. Otherwise, a private folder per database and application. */
export function spoolFolder({ spool_path, application_name }: Options, target: DatabaseTarget): string {
  if (spool_path) return spool_path
  const { address, isOwnFile } = target
  if (isOwnFile && !address.includes(':memory:')) return `${address.slice('sqlite:'.length)}-spool`
  // A database in memory ends with its process. Another process must not import its errors.
  const owner = address.includes(':memory:') ? process.pid : application_name
  const key = createHash('sha256').update(`${address}\n${owner}`).digest('hex').slice(0, 16)
  return join(tmpdir(), `faultboard-${process.getuid?.() ?? 'user'}-${key}`)
}
