import { closeSync, openSync, statSync, unlinkSync } from 'node:fs'
import { TrackerError } from '../../model/errors.js'

/** Longest time until a read or write detects a deleted or replaced file. */
const CHECK_INTERVAL_MS = 1000
/** Largest file that is checked after an unclean shutdown. A check reads all of it on the thread of the host. */
const MAX_CHECKED_AT_OPEN_BYTES = 32 * 1024 * 1024
/** Largest file that is checked before a damaged database is used again. */
const MAX_CHECKED_AFTER_DAMAGE_BYTES = 256 * 1024 * 1024
/** Pause between two checks of a damaged file, in multiples of the last check: checks take 3 % of the time at most. */
const RECHECK_PAUSE_FACTOR = 30

interface SqliteFileParts {
  path: string
  /** Whether a missing file is created. The file of the host never is. */
  creates: boolean
  /** Opens a connection outside the pool. */
  open(): Promise<SqliteHandle>
  /** Closes all connections as soon as they are released. */
  onStale(): void
}

/**
 * The file behind an embedded database. Reports when the path no longer leads to the open file, because SQLite would
 * write to the unlinked file without any error, and stops writes once SQLite has reported damage.
 */
export class SqliteFile {
  readonly path: string
  readonly #parts: SqliteFileParts
  readonly #listeners = new Set<(sentence: string) => void>()
  #identity: string | null = null
  #walIdentity: string | null = null
  #checkedAt = Number.NEGATIVE_INFINITY
  #generation = 0
  #replacedCount = 0
  #damage: string | null = null
  /** State of the file when the last check found damage; repeating the check before it changes is useless. */
  #damagedState: string | null = null
  /** By `performance.now()`: processes that keep writing to a damaged file must not cause one check after the other. */
  #nextCheckAt = Number.NEGATIVE_INFINITY
  #needsCheck = false

  constructor(parts: SqliteFileParts) {
    this.#parts = parts
    this.path = parts.path
  }

  /** Changes whenever the schema has to be checked again. */
  get generation(): number {
    if (performance.now() - this.#checkedAt >= CHECK_INTERVAL_MS) this.hasMoved()
    return this.#generation
  }

  /** How often the open file was deleted or replaced. */
  get replacedCount(): number {
    return this.#replacedCount
  }

  /** What SQLite reported about the damaged file; null for a good one. */
  get damage(): string | null {
    return this.#damage
  }

  /** Calls the listener with a sentence for the operator when the file was replaced or is damaged. */
  onIncident(listener: (sentence: string) => void): void {
    this.#listeners.add(listener)
  }

  /** Creates the file if it is missing, readable by its owner only, and returns its identity. */
  prepare(): string | null {
    if (this.#parts.creates) createPrivate(this.path)
    else if (identityOf(this.path) === null) throw this.#moved()
    if (this.#identity === null && sizeOf(`${this.path}-wal`) > 0) this.#needsCheck = true
    return identityOf(this.path)
  }

  /** Called with the result of `prepare` after a connection was opened. Throws if the path led to two files. */
  opened(prepared: string | null): void {
    const current = identityOf(this.path)
    if (current === null || current !== prepared || (this.#identity ?? current) !== current) {
      this.hasMoved()
      throw this.#moved()
    }
    this.#identity = current
  }

  /** Whether the path no longer leads to the open file. Costs one `stat` once the log is known. */
  hasMoved(): boolean {
    this.#checkedAt = performance.now()
    if (this.#identity === null) return false
    const current = identityOf(this.path)
    if (current === UNKNOWN) return false
    if (current === this.#identity) {
      // SQLite keeps the log while a connection is open.
      this.#walIdentity ??= identityOf(`${this.path}-wal`)
      return false
    }
    this.#identity = null
    this.#replacedCount++
    this.#generation++
    if (current !== null) this.#removeStaleLog()
    this.#walIdentity = null
    this.#parts.onStale()
    this.#report(
      `${this.path} was deleted or replaced while it was open. It is opened again, and created if it is missing. New errors go to the new file; what only the old file contained is lost unless there is a backup.`,
    )
    return true
  }

  /** Throws if the path no longer leads to the open file. */
  assertInPlace(): void {
    if (this.hasMoved()) throw this.#moved()
  }

  /** Throws while the file is damaged. */
  assertSound(): void {
    if (this.#damage !== null) throw this.#damaged()
  }

  /** Throttled check for every use of a connection. */
  assertInPlaceNow(): void {
    if (performance.now() - this.#checkedAt >= CHECK_INTERVAL_MS) this.assertInPlace()
  }

  /** Remembers damage that a statement has reported. */
  noteError(error: unknown): void {
    if (this.#damage !== null || !isDamage(error)) return
    this.#damage = error instanceof Error ? error.message : String(error)
    this.#generation++
    this.#report(`${this.#damaged().message}`)
  }

  /** Checks the file after damage or an unclean shutdown. Rejects while it is damaged. */
  async verify(): Promise<void> {
    const limit = this.#damage === null ? MAX_CHECKED_AT_OPEN_BYTES : MAX_CHECKED_AFTER_DAMAGE_BYTES
    if (this.#damage === null && !this.#needsCheck) return
    const state = stateOf(this.path)
    if (this.#damage !== null && (state === this.#damagedState || performance.now() < this.#nextCheckAt)) {
      throw this.#damaged()
    }
    if (sizeOf(this.path) > limit) {
      // Too large to read at once: damage without any change since then stays, everything else is trusted.
      if (this.#damage !== null && this.#damagedState === null) {
        this.#damagedState = state
        throw this.#damaged()
      }
    } else {
      const started = performance.now()
      const problem = await this.#firstProblem()
      if (problem !== null) {
        this.#damagedState = state
        this.#nextCheckAt = performance.now() + RECHECK_PAUSE_FACTOR * (performance.now() - started)
        this.noteError(Object.assign(new Error(problem), { errcode: CORRUPT }))
        throw this.#damaged()
      }
    }
    if (this.#damage !== null) {
      this.#parts.onStale()
      this.#walIdentity = null
    }
    this.#damage = null
    this.#damagedState = null
    this.#needsCheck = false
  }

  async #firstProblem(): Promise<string | null> {
    let handle: SqliteHandle | null = null
    try {
      handle = await this.#parts.open()
      return await quickCheck(handle)
    } catch (error) {
      if (!isDamage(error)) throw error
      return error instanceof Error ? error.message : String(error)
    } finally {
      handle?.close()
    }
  }

  /** A write-ahead log of the old file would be applied to the new one and damage it. */
  #removeStaleLog(): void {
    const log = `${this.path}-wal`
    if (this.#walIdentity === null || identityOf(log) !== this.#walIdentity) return
    for (const file of [log, `${this.path}-shm`]) {
      try {
        unlinkSync(file)
      } catch {
        // Another process has removed it.
      }
    }
  }

  #report(sentence: string): void {
    for (const listener of this.#listeners) listener(sentence)
  }

  #moved(): TrackerError {
    return new TrackerError('database_unavailable', `${this.path} was deleted or replaced while it was open`)
  }

  #damaged(): TrackerError {
    return new TrackerError(
      'database_unavailable',
      `${this.path} is damaged (${this.#damage}). New errors wait in the spool folder. Run  npx faultboard check --repair  to save a copy and salvage the readable rows, or put a backup in its place.`,
    )
  }
}

const CORRUPT = 11
const NOT_A_DATABASE = 26

/** Whether SQLite reports that the file is damaged. Errors of `all` have no code in @photostructure/sqlite. */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { errcode, code } = error as { errcode?: unknown; code?: unknown }
  if (typeof errcode === 'number') return [CORRUPT, NOT_A_DATABASE].includes(errcode & 0xff)
  if (typeof code === 'string' && /^SQLITE_(CORRUPT|NOTADB)/.test(code)) return true
  return /^(database disk image is malformed|file is not a database)/.test(error.message)
}

/** The first problem of the file, or null. Checks one table at a time, so that the host gets its turn in between. */
async function quickCheck(handle: SqliteHandle): Promise<string | null> {
  const tables = handle.prepare("select name from sqlite_master where type = 'table'").all() as { name: string }[]
  for (const { name } of tables) {
    const [row] = handle.prepare(`pragma quick_check('${name.replaceAll("'", "''")}')`).all() as object[]
    const result = String(Object.values(row ?? {})[0] ?? 'ok')
    if (result !== 'ok') return result.split('\n')[0] ?? result
    await new Promise((resume) => setImmediate(resume))
  }
  return null
}

/** SQLite gives its -wal and -shm files the mode of the database file. The mode of an existing file is not changed. */
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // It exists, or SQLite reports why it cannot be created.
  }
}

/** The identity of a file that must not be looked at, as under the permission model of Node.js. */
const UNKNOWN = 'unknown'

/** Device and inode, which no other file has while this one is open; null for a missing file. */
function identityOf(path: string): string | null {
  try {
    const stats = statSync(path, { throwIfNoEntry: false, bigint: true })
    return stats ? `${stats.dev}:${stats.ino}` : null
  } catch {
    return UNKNOWN
  }
}

/** Changes with the content of the file and its write-ahead log. */
function stateOf(path: string): string {
  return [path, `${path}-wal`]
    .map((file) => {
      const stats = statSync(file, { throwIfNoEntry: false, bigint: true })
      return stats ? `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}` : 'missing'
    })
    .join(' ')
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** The part of `node:sqlite`, `@photostructure/sqlite` and better-sqlite3 that we use. */
export interface SqliteHandle {
  prepare(sql: string): SqliteStatement
  exec(sql: string): unknown
  close(): void
  /** Whether a transaction is open: node:sqlite's word and better-sqlite3's. */
  readonly isTransaction?: boolean
  readonly inTransaction?: boolean
}

export interface SqliteStatement {
  all(...parameters: unknown[]): unknown[]
  get(...parameters: unknown[]): unknown
  run(...parameters: unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint }
  columns(): unknown[]
  readonly reader?: boolean
}
