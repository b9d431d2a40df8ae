import { closeSync, openSync, statSync, unlinkSync } from 'node:fs'
import { TrackerError } from '../../model/errors.js'

/** Interval of the check for a deleted or replaced file. */
const CHECK_INTERVAL_MS = 1000
/** Limits the integrity check after an unclean shutdown, because it reads the whole file on the host's thread. */
const MAX_CHECKED_AT_OPEN_BYTES = 32 * 1024 * 1024
/** Limits the integrity check before a damaged database is used again. */
const MAX_CHECKED_AFTER_DAMAGE_BYTES = 256 * 1024 * 1024
/** Pause after a check of a damaged file, as a multiple of its duration. Limits checks to 3% of the time. */
const RECHECK_PAUSE_FACTOR = 30

interface SqliteFileParts {
  path: string
  /** True if the tracker owns the file and creates it if missing. False for a file of the host. */
  isOwnFile: boolean
  /** Opens a connection outside the pool. */
  open(): Promise<SqliteHandle>
  /** Closes all connections as soon as they are released. */
  onStale(): void
}

/**
 * File of an embedded database. Detects when the path no longer refers to the open file, because SQLite would write to the
 * unlinked file without an error. Stops writes after SQLite has reported damage.
 */
export class SqliteFile {
  readonly path: string
  readonly #parts: SqliteFileParts
  readonly #listeners = new Set<(message: string) => void>()
  #identity: string | null = null
  #walIdentity: string | null = null
  #checkedAt = Number.NEGATIVE_INFINITY
  #generation = 0
  #replacedCount = 0
  #damage: string | null = null
  /** State of the file when the last check found damage. An unchanged file is not checked again. */
  #damagedState: string | null = null
  /** Time from `performance.now()`. Throttles checks while other processes keep writing to a damaged file. */
  #nextCheckAt = Number.NEGATIVE_INFINITY
  #needsCheck = false

  constructor(parts: SqliteFileParts) {
    this.#parts = parts
    this.path = parts.path
  }

  /** Changes whenever the schema has to be checked again. */
  get generation(): number {
    if (performance.now() - this.#checkedAt >= CHECK_INTERVAL_MS) this.checkReplaced()
    return this.#generation
  }

  /** Number of times the open file was deleted or replaced. */
  get replacedCount(): number {
    return this.#replacedCount
  }

  /** Message of SQLite about the damage. Null for an intact file. */
  get damage(): string | null {
    return this.#damage
  }

  /** Calls the listener with a message for the operator when the file was replaced or is damaged. */
  onIncident(listener: (message: string) => void): void {
    this.#listeners.add(listener)
  }

  /** Creates the file if it is missing, readable by its owner only, and returns its identity. */
  prepare(): string | null {
    if (this.#parts.isOwnFile) createPrivate(this.path)
    else if (fileIdentity(this.path) === null) throw this.#replacedError()
    if (this.#identity === null && fileSize(`${this.path}-wal`) > 0) this.#needsCheck = true
    return fileIdentity(this.path)
  }

  /** Called with the result of `prepare` after a connection was opened. Throws if the file changed in between. */
  opened(prepared: string | null): void {
    const current = fileIdentity(this.path)
    if (current === null || current !== prepared || (this.#identity ?? current) !== current) {
      this.checkReplaced()
      throw this.#replacedError()
    }
    this.#identity = current
  }

  /** Returns whether the path no longer refers to the open file. Takes one `stat` once the log is known. */
  checkReplaced(): boolean {
    this.#checkedAt = performance.now()
    if (this.#identity === null) return false
    const current = fileIdentity(this.path)
    if (current === UNKNOWN) return false
    if (current === this.#identity) {
      // SQLite keeps the log while a connection is open.
      this.#walIdentity ??= fileIdentity(`${this.path}-wal`)
      return false
    }
    this.#identity = null
    this.#replacedCount++
    this.#generation++
    if (current !== null) this.#removeStaleLog()
    this.#walIdentity = null
    this.#parts.onStale()
    this.#report(
      `${this.path} was deleted or replaced while it was open. Reopening it, or creating it if it is missing. New errors go to the new file. Data that was only in the old file is lost unless you have a backup.`,
    )
    return true
  }

  /** Throws if the path no longer refers to the open file. */
  assertNotReplaced(): void {
    if (this.checkReplaced()) throw this.#replacedError()
  }

  /** Throws while the file is damaged. */
  assertUndamaged(): void {
    if (this.#damage !== null) throw this.#damagedError()
  }

  /** Checks at most once per second, because it runs for every use of a connection. */
  assertNotReplacedThrottled(): void {
    if (performance.now() - this.#checkedAt >= CHECK_INTERVAL_MS) this.assertNotReplaced()
  }

  /** Stores and reports damage if an error of a statement indicates it. */
  detectDamage(error: unknown): void {
    if (this.#damage !== null || !isDamage(error)) return
    this.#damage = error instanceof Error ? error.message : String(error)
    this.#generation++
    this.#report(this.#damagedError().message)
  }

  /** Checks the file after damage or an unclean shutdown. Rejects while it is damaged. */
  async verify(): Promise<void> {
    const limit = this.#damage === null ? MAX_CHECKED_AT_OPEN_BYTES : MAX_CHECKED_AFTER_DAMAGE_BYTES
    if (this.#damage === null && !this.#needsCheck) return
    const state = fileState(this.path)
    if (this.#damage !== null && (state === this.#damagedState || performance.now() < this.#nextCheckAt)) {
      throw this.#damagedError()
    }
    if (fileSize(this.path) > limit) {
      // Too large to check. A damaged file stays damaged until it changes; every other file is trusted.
      if (this.#damage !== null && this.#damagedState === null) {
        this.#damagedState = state
        throw this.#damagedError()
      }
    } else {
      const started = performance.now()
      const problem = await this.#firstProblem()
      if (problem !== null) {
        this.#damagedState = state
        this.#nextCheckAt = performance.now() + RECHECK_PAUSE_FACTOR * (performance.now() - started)
        this.detectDamage(Object.assign(new Error(problem), { errcode: CORRUPT }))
        throw this.#damagedError()
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

  /** Deletes the write-ahead log of the old file, because SQLite would apply it to the new file and damage it. */
  #removeStaleLog(): void {
    const log = `${this.path}-wal`
    if (this.#walIdentity === null || fileIdentity(log) !== this.#walIdentity) return
    for (const file of [log, `${this.path}-shm`]) {
      try {
        unlinkSync(file)
      } catch {
        // Another process has deleted the file.
      }
    }
  }

  #report(message: string): void {
    for (const listener of this.#listeners) listener(message)
  }

  #replacedError(): TrackerError {
    return new TrackerError('database_unavailable', `${this.path} was deleted or replaced while it was open`)
  }

  #damagedError(): TrackerError {
    return new TrackerError(
      'database_unavailable',
      `${this.path} is damaged (${this.#damage}). New errors are written to the spool folder. Run  npx faultboard check --repair  to back up the file and recover the readable rows, or restore a backup.`,
    )
  }
}

const CORRUPT = 11
const NOT_A_DATABASE = 26

/** Returns true if SQLite reports that the file is damaged. Errors of `all` have no code in @photostructure/sqlite. */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { errcode, code } = error as { errcode?: unknown; code?: unknown }
  if (typeof errcode === 'number') return [CORRUPT, NOT_A_DATABASE].includes(errcode & 0xff)
  if (typeof code === 'string' && /^SQLITE_(CORRUPT|NOTADB)/.test(code)) return true
  return /^(database disk image is malformed|file is not a database)/.test(error.message)
}

/** Returns the first problem of the file, or null. Checks one table at a time and yields to the host in between. */
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

/** Creates a file for its owner only. SQLite uses the same mode for -wal and -shm. Does not change an existing file. */
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // The file exists, or SQLite reports why it cannot be created.
  }
}

/** Identity of a file without read permission, such as under the permission model of Node.js. */
const UNKNOWN = 'unknown'

/** Returns device and inode, which are unique while the file is open. Null for a missing file. */
function fileIdentity(path: string): string | null {
  try {
    const stats = statSync(path, { throwIfNoEntry: false, bigint: true })
    return stats ? `${stats.dev}:${stats.ino}` : null
  } catch {
    return UNKNOWN
  }
}

/** Returns a value that changes with the content of the file and its write-ahead log. */
function fileState(path: string): string {
  return [path, `${path}-wal`]
    .map((file) => {
      const stats = statSync(file, { throwIfNoEntry: false, bigint: true })
      return stats ? `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}` : 'missing'
    })
    .join(' ')
}

function fileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Common interface of `node:sqlite`, `@photostructure/sqlite` and better-sqlite3. */
export interface SqliteHandle {
  prepare(sql: string): SqliteStatement
  exec(sql: string): unknown
  close(): void
  /** True if a transaction is open, in node:sqlite. */
  readonly isTransaction?: boolean
  /** True if a transaction is open, in better-sqlite3. */
  readonly inTransaction?: boolean
}

export interface SqliteStatement {
  all(...parameters: unknown[]): unknown[]
  get(...parameters: unknown[]): unknown
  run(...parameters: unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint }
  columns(): unknown[]
  readonly reader?: boolean
}
