import { randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { readdir, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FoldedGroup } from './fold.js'
import type { Batch } from './record-batch.js'

export interface SpoolState {
  folder: string
  files: number
  bytes: number
}

/** A batch on disk that this process alone may write to the database. */
export interface ClaimedBatch {
  file: string
  batch: Batch
}

/** Claims of this process, by which a claim of an earlier process with the same pid is told from a live one. */
const liveClaims = new Set<string>()

/**
 * Batches that are not in the database yet, one file each. A file appears whole under a name nobody shares, and is
 * claimed by renaming it, so that any number of processes may use one folder.
 */
export class Spool {
  readonly folder: string
  readonly #max_bytes: number
  readonly #claim = `${process.pid}-${randomBytes(4).toString('hex')}`
  #bytes = 0
  #puts = 0

  constructor(folder: string, max_bytes: number) {
    this.folder = folder
    this.#max_bytes = max_bytes
    liveClaims.add(this.#claim)
  }

  /**
   * Writes a batch, held by this process until it is released or removed. Gives its file, or null when the folder is
   * full. Past half of the bound only one row per group is kept; the sums stay exact.
   */
  async put(batch: Batch): Promise<string | null> {
    if (this.#puts++ % 50 === 0) this.#bytes = (await this.state()).bytes
    const text = this.#serialise(batch)
    if (text === null) return null
    this.#openFolder()
    const file = join(this.folder, `${fileName(batch)}.importing-${this.#claim}`)
    await writeFile(`${file}.tmp`, text, { mode: 0o600 })
    await rename(`${file}.tmp`, file)
    return file
  }

  /** The same in one go, for a process that is about to end; the file is free for whoever starts next. */
  putSync(batch: Batch): boolean {
    const text = this.#serialise(batch)
    if (text === null) return false
    this.#openFolder()
    const file = join(this.folder, fileName(batch))
    writeFileSync(`${file}.tmp`, text, { mode: 0o600 })
    renameSync(`${file}.tmp`, file)
    return true
  }

  /** Leaves a held batch for a later import, by this process or another. */
  async release(file: string): Promise<void> {
    await rename(file, file.replace(/\.importing-[^.]*$/, ''))
  }

  async remove(file: string): Promise<void> {
    const { size } = await stat(file)
    await unlink(file)
    this.#bytes = Math.max(0, this.#bytes - size)
  }

  /** Keeps a batch that no database will take for a person to look at. */
  async setAside(file: string): Promise<void> {
    await rename(file, `${file.replace(/\.importing-[^.]*$/, '')}.failed`)
  }

  /** Claims the batches that wait, oldest first, one after the other. */
  async *claim(): AsyncGenerator<ClaimedBatch> {
    for (const name of (await this.#names()).sort()) {
      const free = this.#freeName(name)
      if (free === null) continue
      const file = join(this.folder, `${free}.importing-${this.#claim}`)
      try {
        await rename(join(this.folder, name), file)
      } catch {
        // Another process was quicker.
        continue
      }
      const batch = await read(file)
      if (batch) yield { file, batch }
      else await this.setAside(file)
    }
  }

  async state(): Promise<SpoolState> {
    let bytes = 0
    const names = (await this.#names()).filter((name) => name.startsWith('batch-'))
    for (const name of names) {
      // A file may be imported and gone between the listing and this look at it.
      bytes += (await stat(join(this.folder, name)).catch(() => null))?.size ?? 0
    }
    return { folder: this.folder, files: names.length, bytes }
  }

  close(): void {
    liveClaims.delete(this.#claim)
    // What was claimed and not finished goes back to be imported at the next start.
    for (const name of this.#namesSync()) {
      if (name.endsWith(`.importing-${this.#claim}`)) {
        renameSync(join(this.folder, name), join(this.folder, name.replace(/\.importing-[^.]*$/, '')))
      }
    }
  }

  #serialise(batch: Batch): string | null {
    if (this.#bytes > this.#max_bytes / 2) for (const group of batch.groups) group.thin(1)
    const { batch_id, application_name, groups } = batch
    const text = [
      JSON.stringify({ version: 1, batch_id, application_name }),
      ...groups.map((group) => JSON.stringify(group)),
    ].join('\n')
    if (this.#bytes + text.length > this.#max_bytes) return null
    this.#bytes += text.length
    return text
  }

  /** The name under which a file may be claimed, or null when it is not a batch or is in living hands. */
  #freeName(name: string): string | null {
    const [, free, claim] = /^(batch-[\w-]+\.ndjson)(?:\.importing-([\w-]+))?$/.exec(name) ?? []
    if (!free) return null
    if (!claim) return free
    const pid = Number(claim.split('-')[0])
    const alive = pid === process.pid ? liveClaims.has(claim) : isAlive(pid)
    return alive ? null : free
  }

  async #names(): Promise<string[]> {
    // No folder yet means that nothing was ever spooled.
    return readdir(this.folder).catch(() => [])
  }

  #namesSync(): string[] {
    try {
      return readdirSync(this.folder)
    } catch {
      // As above.
      return []
    }
  }

  /** The folder may lie in a temporary directory that others can write to: one that is not ours is not used. */
  #openFolder(): void {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    const entry = lstatSync(this.folder)
    if (!entry.isDirectory() || (process.getuid && entry.uid !== process.getuid())) {
      throw new Error(`${this.folder} is not a folder of this user; set spool_path to one that is`)
    }
  }
}

function fileName({ batch_id }: Batch): string {
  return `batch-${batch_id}.ndjson`
}

async function read(file: string): Promise<Batch | null> {
  try {
    const [head = '', ...lines] = (await readFile(file, 'utf8')).split('\n')
    const { batch_id, application_name } = JSON.parse(head)
    const groups = lines.filter((line) => line !== '').map((line) => FoldedGroup.fromJSON(JSON.parse(line)))
    if (typeof batch_id !== 'string' || typeof application_name !== 'string' || groups.length === 0) return null
    return { batch_id, application_name, groups, tried_before: true }
  } catch {
    // A file that cannot be read is set aside by the caller, never deleted.
    return null
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user exists, though we may not signal it.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
