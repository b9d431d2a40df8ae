import { randomBytes } from 'node:crypto'
import {
  closeSync,
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
import { readdir, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { HostTurn } from '../dialects/host-turn.js'
import type { Batch } from '../recording/batch.js'
import { FoldedGroup } from '../recording/folded-group.js'
import { isAlive } from './is-alive.js'

export interface SpoolState {
  folder: string
  /** Batches that wait for the database. */
  files: number
  /** Batches set aside, for a person to look at. */
  failed: number
  bytes: number
}

/** A batch on disk that this process alone may write to the database. */
export interface ClaimedBatch {
  file: string
  batch: Batch
  bytes: number
}

/** Claims of this process, by which a claim of an earlier process with the same pid is told from a live one. */
const liveClaims = new Set<string>()

/** Other processes write to the folder too. With ten thousand files, adding up their sizes takes about a second. */
const REFRESH_EVERY_MS = 10_000
const ABANDONED_AFTER_MS = 600_000
/** Much longer than any write. A claim this old was left by a dead process whose pid is in use again. */
const CLAIM_LEASE_MS = 300_000
const MOST_LEFT = 1000
/** Larger files are read by the thread pool. */
const MAX_SYNC_BYTES = 128 * 1024
/** Version 0.4.0 writes and reads version 1. It ignores the names of version 2 and leaves such files to newer processes. */
const VERSION = 2
const READABLE_VERSIONS: readonly unknown[] = [1, VERSION]

/** What makes one spool differ from another. */
export interface SpoolOptions {
  /** How its files begin, so that two spools may share a folder. */
  prefix?: string
  max_files?: number
  max_file_bytes?: number
}

/**
 * Batches that are not in the database yet, one file each. A file appears whole under a name nobody shares, and is
 * claimed by renaming it, so that any number of processes may use one folder.
 */
export class Spool {
  readonly folder: string
  readonly #max_bytes: number
  readonly #max_files: number
  readonly #max_file_bytes: number
  readonly #prefix: string
  readonly #name: RegExp
  readonly #claim = `${process.pid}-${randomBytes(4).toString('hex')}`
  /** Sizes of the claimed files that this process is writing to the database or to disk, by name. */
  readonly #inUse = new Map<string, number>()
  readonly #turn = new HostTurn()
  #bytes = 0
  #refreshAfter = -Infinity

  constructor(
    folder: string,
    max_bytes: number,
    { prefix = 'batch', max_files = Infinity, max_file_bytes = Infinity }: SpoolOptions = {},
  ) {
    this.folder = folder
    this.#max_bytes = max_bytes
    this.#max_files = max_files
    this.#max_file_bytes = max_file_bytes
    this.#prefix = prefix
    this.#name = new RegExp(`^(${prefix}-[\\w-]+(?:\\.v2)?\\.ndjson)(?:\\.importing-([\\w-]+))?(\\.tmp)?$`)
    liveClaims.add(this.#claim)
  }

  /**
   * Writes a batch, held by this process until it is released or removed. Gives its file, or null when the folder is
   * full. Past half of the bound only one row per group is kept; the sums stay exact.
   */
  async put(batch: Batch): Promise<string | null> {
    void this.refreshSize()
    const content = this.#reserve(batch)
    if (content === null) return null
    const file = this.#claimed(this.#fileName(batch))
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
   * Reads the size of the folder, at most every ten seconds. Callers do not wait for it: an acknowledgment must not
   * depend on the number of files.
   */
  async refreshSize(): Promise<void> {
    if (performance.now() < this.#refreshAfter) return
    this.#refreshAfter = Infinity
    const before = this.#bytes
    const { bytes } = await this.state()
    // Files written since then may be counted twice until the next refresh, never left out.
    this.#bytes = Math.max(0, bytes + this.#bytes - before)
    this.#refreshAfter = performance.now() + REFRESH_EVERY_MS
  }

  /**
   * The same in one go, for a process that is about to end; the file is free for whoever starts next. Gives it, or null
   * when there is no room for it.
   */
  putSync(batch: Batch): string | null {
    if (this.#max_files < Infinity && this.#waiting() >= this.#max_files) return null
    const content = this.#reserve(batch)
    if (content === null) return null
    const name = this.#fileName(batch)
    this.#writeSync(name, content)
    return join(this.folder, name)
  }

  /** Keeps what no database will take for a person to look at; gives whether there was room for it. */
  keepFailed(batch: Batch): boolean {
    // What is refused again and again must not take the room of what only has to wait.
    if (this.#bytes > this.#max_bytes / 2) return false
    try {
      const content = this.#reserve(batch)
      if (content === null) return false
      this.#writeSync(`${this.#fileName(batch)}.failed`, content)
      return true
    } catch {
      // The caller counts and tells the refusal itself; a folder that cannot be written tells on its own.
      return false
    }
  }

  /**
   * Leaves something else than a batch under a name that nobody shares; gives whether there was room for it. Where so
   * many wait already, nobody takes them up.
   */
  leaveSync(name: string, content: Buffer): boolean {
    if (this.#namesSync().filter((one) => !this.#name.test(one)).length >= MOST_LEFT) return false
    this.#openFolder()
    writeFileSync(join(this.folder, `${name}.tmp`), content, { mode: 0o600 })
    renameSync(join(this.folder, `${name}.tmp`), join(this.folder, name))
    return true
  }

  /** The names of all that lies in the folder. */
  leftovers(): Promise<string[]> {
    return this.#names()
  }

  /** Leaves a held batch for a later import, by this process or another. */
  async release(file: string): Promise<void> {
    await rename(file, freed(file)).catch(ignoreGone)
    this.#inUse.delete(basename(file))
  }

  async remove(file: string): Promise<void> {
    const name = basename(file)
    const size = this.#inUse.get(name) ?? (await stat(file).catch(ignoreGone))?.size ?? 0
    await this.#turn.giveWay()
    try {
      unlinkSync(file)
    } catch {
      // Gone, see `ignoreGone`.
    }
    this.#inUse.delete(name)
    this.#bytes = Math.max(0, this.#bytes - size)
  }

  /** Keeps a held batch that no database will take for a person to look at. */
  async setAside(file: string): Promise<void> {
    await rename(file, `${freed(file)}.failed`).catch(ignoreGone)
    this.#inUse.delete(basename(file))
  }

  /** Claims the batches that wait, oldest first, one after the other. The file named `last` comes after all others. */
  async *claim(last: string | null = null): AsyncGenerator<ClaimedBatch> {
    const lastName = last && basename(freed(last))
    const names = (await this.#names()).sort()
    const [ordinary, held] = [names.filter((name) => name !== lastName), names.filter((name) => name === lastName)]
    for (const name of [...ordinary, ...held]) {
      const free = await this.#freeName(name)
      if (free === null) continue
      const file = this.#claimed(free)
      if (this.#inUse.has(basename(file))) continue
      this.#inUse.set(basename(file), 0)
      // Synchronous calls on files in the page cache take a tenth of the time that a thread pool needs for them.
      await this.#turn.giveWay()
      try {
        renameSync(join(this.folder, name), file)
      } catch {
        // Another process was quicker.
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
        if (bytes > this.#max_file_bytes) return null
        if (bytes <= MAX_SYNC_BYTES) content = readFileSync(descriptor, 'utf8')
      } finally {
        closeSync(descriptor)
      }
      const batch = parse(content ?? (await readFile(file, 'utf8')))
      return batch && { file, batch, bytes }
    } catch {
      // A file that cannot be read is set aside by the caller, never deleted.
      return null
    }
  }

  async state(): Promise<SpoolState> {
    const state = { folder: this.folder, files: 0, failed: 0, bytes: 0 }
    for (const name of await this.#names()) {
      if (!name.startsWith(`${this.#prefix}-`)) continue
      if (name.endsWith('.failed')) state.failed++
      else if (!name.endsWith('.tmp')) state.files++
      state.bytes += await this.#sizeOf(name)
    }
    return state
  }

  /** Files are released, claimed and imported after the folder was listed. A renamed file still occupies the folder. */
  async #sizeOf(name: string): Promise<number> {
    const free = freed(name.replace(/\.tmp$/, ''))
    for (const path of [join(this.folder, name), join(this.folder, free), this.#claimed(free)]) {
      const size = (await stat(path).catch(ignoreGone))?.size
      if (size !== undefined) return size
    }
    return 0
  }

  /** Gives back what was claimed and not finished, to be imported at the next start. */
  close(): void {
    liveClaims.delete(this.#claim)
    for (const name of this.#namesSync()) {
      const [, free, claim, unfinished] = this.#name.exec(name) ?? []
      if (!free || claim !== this.#claim) continue
      try {
        if (unfinished) unlinkSync(join(this.folder, name))
        else renameSync(join(this.folder, name), join(this.folder, free))
      } catch {
        // As below: another process may have been quicker, and the end of the process must go on.
      }
    }
  }

  /** The batch as it is written, when there is room for it. */
  #reserve(batch: Batch): Buffer | null {
    if (this.#bytes > this.#max_bytes / 2) for (const group of batch.groups) group.trimKept(1)
    const { batch_id, application_name, groups } = batch
    const content = Buffer.from(
      [{ version: VERSION, batch_id, application_name, group_count: groups.length }, ...groups]
        .map((line) => JSON.stringify(line))
        .join('\n'),
    )
    if (content.length > this.#max_file_bytes || this.#bytes + content.length > this.#max_bytes) return null
    this.#bytes += content.length
    return content
  }

  #writeSync(name: string, content: Buffer): void {
    this.#openFolder()
    const unfinished = `${this.#claimed(fileNameIn(name))}.tmp`
    writeFileSync(unfinished, content, { mode: 0o600 })
    renameSync(unfinished, join(this.folder, name))
  }

  /** Begins with the time of the events, so that names sort as they happened. */
  #fileName({ batch_id, groups }: Batch): string {
    return `${this.#prefix}-${String(groups[0]?.oldest.occurred_at ?? 0).padStart(15, '0')}-${batch_id}.v2.ndjson`
  }

  #waiting(): number {
    return this.#namesSync().filter((name) => this.#name.test(name)).length
  }

  #claimed(name: string): string {
    return join(this.folder, `${name}.importing-${this.#claim}`)
  }

  /** The name under which a file may be claimed, or null when it is not a batch or is in living hands. */
  async #freeName(name: string): Promise<string | null> {
    const [, free, claim, unfinished] = this.#name.exec(name) ?? []
    if (!free) return null
    if (!claim) return unfinished ? null : free
    // Claimed by this spool and not in use: an earlier release could not rename it.
    if (claim === this.#claim) return unfinished || this.#inUse.has(name) ? null : free
    const pid = Number(claim.split('-')[0])
    const alive = pid === process.pid ? liveClaims.has(claim) : isAlive(pid)
    if (alive && !(await this.#isExpired(name))) return null
    if (!unfinished) return free
    await this.#removeAbandoned(join(this.folder, name))
    return null
  }

  /** Whether a claim is so old that its process must have ended and its pid been reused. Renaming sets the change time. */
  async #isExpired(name: string): Promise<boolean> {
    const claimedAt = (await stat(join(this.folder, name)).catch(ignoreGone))?.ctimeMs
    return claimedAt !== undefined && Date.now() - claimedAt > CLAIM_LEASE_MS
  }

  /** What a process that died had half written: nobody was told that these events are safe. */
  async #removeAbandoned(file: string): Promise<void> {
    const written = (await stat(file).catch(ignoreGone))?.mtimeMs
    // A thread, or a process of another container, only looks dead from here, and may be about to finish it.
    if (written === undefined || Date.now() - written < ABANDONED_AFTER_MS) return
    await unlink(file).catch(ignoreGone)
  }

  async #names(): Promise<string[]> {
    // No folder yet means that nothing was ever spooled.
    return this.#isOurs() ? readdir(this.folder).catch(() => []) : []
  }

  #namesSync(): string[] {
    try {
      return this.#isOurs() ? readdirSync(this.folder) : []
    } catch {
      // As above.
      return []
    }
  }

  /** The folder may lie in a temporary directory that others can write to: one that is not ours is not used. */
  #openFolder(): void {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    if (!this.#isOurs()) {
      throw new Error(`${this.folder} is not a folder of this user; set spool_path to one that is`)
    }
  }

  #isOurs(): boolean {
    try {
      const entry = lstatSync(this.folder)
      return entry.isDirectory() && (!process.getuid || entry.uid === process.getuid())
    } catch {
      // It is not there, or behind a folder that we may not enter.
      return false
    }
  }
}

function fileNameIn(name: string): string {
  return name.replace(/\.failed$/, '')
}

function freed(file: string): string {
  return file.replace(/\.importing-[^.]*$/, '')
}

/**
 * A file may be gone because another process took its claim for a dead one's, which happens when they do not see each
 * other's pids: the batch's id keeps it from being counted twice. Other faults of the disk must not stop the recorder
 * either; a file that stays claimed is freed when its process ends.
 */
function ignoreGone(): undefined {}

/** Returns null for content that is not a complete batch. */
function parse(text: string): Batch | null {
  const [head = '', ...lines] = text.split('\n')
  const { version, batch_id, application_name, group_count } = JSON.parse(head)
  const groups = lines.filter((line) => line !== '').map((line) => FoldedGroup.fromJSON(JSON.parse(line)))
  const isComplete =
    typeof batch_id === 'string' && typeof application_name === 'string' && groups.length === group_count
  return READABLE_VERSIONS.includes(version) && isComplete
    ? { batch_id, application_name, groups, mayBeCommitted: true }
    : null
}
