import { TrackerError } from '../../model/errors.js'
import { nextFreeIteration } from '../../model/event-loop-turns.js'
import { type DatabaseTarget, handleFile } from '../database-target.js'
import type { Dialect, ErrorClass } from '../dialect.js'
import {
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from '../kysely.js'
import { HostYield } from './host-yield.js'
import { type BulkQuery, bulkStatements, insertMany } from './sqlite-bulk.js'
import { sqliteCapabilities } from './sqlite-capabilities.js'
import type { SqliteHandle, SqliteStatement } from './sqlite-file.js'
import { SqliteFile } from './sqlite-file.js'
import { loadSqlite, type SqliteLibrary } from './sqlite-library.js'
import { sqliteSearch } from './sqlite-search.js'

/** Opens a file that belongs to the tracker. */
export function openSqliteFile(target: DatabaseTarget): Dialect {
  const file = target.address.slice('sqlite:'.length)
  const open = async () => {
    const handle = openFile(await loadSqlite(), file)
    try {
      await retryWhileBusy(() => handle.exec('pragma journal_mode = wal'))
      handle.exec('pragma synchronous = normal; pragma busy_timeout = 0')
    } catch (error) {
      handle.close()
      throw error
    }
    return handle
  }
  const pool =
    file === ':memory:' ? new SqlitePool({ size: 1, open }) : new SqlitePool({ size: 2, open, file, isOwnFile: true })
  return sqliteDialect(target, pool)
}

/**
 * Uses the database of the host. Opens its file a second time, so that transactions of the host and of the tracker never
 * mix. Uses the library of the host, because two copies of SQLite in one process must not open the same file: closing one
 * drops the locks of the other. Only an in-memory database is shared directly.
 */
export function openSqliteHandle(target: DatabaseTarget, hostHandle: object): Dialect {
  const handle = hostHandle as SqliteHandle
  const file = handleFile(handle)
  const Library = handle.constructor as new (file: string) => SqliteHandle
  const pool = file
    ? new SqlitePool({ size: 2, open: async () => openSecondHandle(Library, file), file, isOwnFile: false })
    : new SqlitePool({ size: 1, open: async () => handle, shared: true })
  return sqliteDialect(target, pool)
}

function openSecondHandle(Library: new (file: string) => SqliteHandle, file: string): SqliteHandle {
  const handle = new Library(file)
  handle.exec('pragma busy_timeout = 0')
  return handle
}

function sqliteDialect(target: DatabaseTarget, pool: SqlitePool): Dialect {
  return {
    ...target,
    ...sqliteCapabilities,
    kysely: {
      createDriver: () => pool,
      createAdapter: () => new TransactionalAdapter(),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createIntrospector: (db) => new SqliteIntrospector(db),
    },
    columns: { id: 'integer primary key autoincrement', longText: 'text', byteOrder: null },
    tableOptions: null,
    isolation: null,
    search: sqliteSearch,
    blocksHost: true,
    insertMany,
    classifyError,
    isOutage,
    ...(pool.file ? { file: pool.file } : {}),
    closeConnections: () => true,
    close: () => pool.close(),
  }
}

/** SQLite supports transactional DDL. The transaction lock ensures that one process migrates at a time. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** Invalid data and violated constraints. All other codes concern the file or the schema and are temporary. */
const REFUSED = ['TOOBIG', 'CONSTRAINT', 'MISMATCH'] as const
/** The file is locked, missing, damaged, read-only or on a full or failing disk. */
const OUTAGES = [
  'PERM',
  'BUSY',
  'LOCKED',
  'READONLY',
  'IOERR',
  'CORRUPT',
  'FULL',
  'CANTOPEN',
  'PROTOCOL',
  'NOTADB',
] as const
const CODES: Record<(typeof REFUSED)[number] | (typeof OUTAGES)[number], number> = {
  ...{ PERM: 3, BUSY: 5, LOCKED: 6, READONLY: 8, IOERR: 10, CORRUPT: 11, FULL: 13, CANTOPEN: 14, PROTOCOL: 15 },
  ...{ TOOBIG: 18, CONSTRAINT: 19, MISMATCH: 20, NOTADB: 26 },
}

function classifyError(error: unknown): ErrorClass {
  const code = primaryCode(error)
  return REFUSED.some((name) => CODES[name] === code) ? 'statement' : 'unavailable'
}

function isOutage(error: unknown): boolean {
  const code = primaryCode(error)
  return OUTAGES.some((name) => CODES[name] === code)
}

function isBusy(error: unknown): boolean {
  const code = primaryCode(error)
  return code === CODES.BUSY || code === CODES.LOCKED
}

function primaryCode(error: unknown): number | null {
  if (typeof error !== 'object' || error === null) return null
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff
  if ('code' in error && typeof error.code === 'string' && error.code.startsWith('SQLITE_')) {
    return (CODES as Record<string, number>)[/^SQLITE_([A-Z]+)/.exec(error.code)?.[1] ?? ''] ?? null
  }
  return 'message' in error ? (CODES_BY_MESSAGE.get(String(error.message)) ?? null) : null
}

/** Needed because errors of `all` in @photostructure/sqlite have no code. */
const CODES_BY_MESSAGE = new Map<string, number>([
  ['database is locked', CODES.BUSY],
  ['database table is locked', CODES.LOCKED],
  ['attempt to write a readonly database', CODES.READONLY],
  ['disk I/O error', CODES.IOERR],
  ['database disk image is malformed', CODES.CORRUPT],
  ['database or disk is full', CODES.FULL],
  ['unable to open database file', CODES.CANTOPEN],
  ['file is not a database', CODES.NOTADB],
])

const LOCK_WAIT_MS = 5000

/** Waits for a lock without blocking the host's thread, unlike the busy_timeout of SQLite. */
async function retryWhileBusy<T>(attempt: () => T): Promise<T> {
  for (const deadline = performance.now() + LOCK_WAIT_MS; ; ) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error
    }
    await new Promise((resume) => setTimeout(resume, 1 + Math.random() * 4))
  }
}

/** Prevents statements of the tracker from joining a transaction of the host on a shared handle. */
function assertNoHostTransaction(handle: SqliteHandle): void {
  if (!(handle.isTransaction ?? handle.inTransaction)) return
  throw Object.assign(new Error('The SQLite handle of the host has an open transaction.'), { errcode: CODES.BUSY })
}

interface PreparedStatement {
  statement: SqliteStatement
  /** True if the statement returns rows. */
  isReader: boolean
}

class SqliteConnection implements DatabaseConnection {
  readonly handle: SqliteHandle
  /** Generation of the pool when the connection was opened. */
  readonly generation: number
  isInTransaction = false
  /** SQLite opens a file without write access as read-only, and the connection stays read-only when the file becomes writable. */
  isReadOnly = false
  readonly #hostYield: HostYield
  readonly #file: SqliteFile | null
  readonly #statements = new Map<string, PreparedStatement>()

  constructor(handle: SqliteHandle, { generation, hostYield, file }: ConnectionParts) {
    this.handle = handle
    this.generation = generation
    this.#hostYield = hostYield
    this.#file = file
  }

  async executeQuery<R>(query: BulkQuery): Promise<QueryResult<R>> {
    try {
      if (this.isInTransaction) return this.#run(query)
      await this.#hostYield.yieldIfDue()
      return await retryWhileBusy(() => {
        assertNoHostTransaction(this.handle)
        return this.#run(query)
      })
    } catch (error) {
      if (primaryCode(error) === CODES.READONLY) this.isReadOnly = true
      this.#file?.detectDamage(error)
      throw error
    }
  }

  // biome-ignore lint/correctness/useYield: Kysely requires the method, but the tracker never streams.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Streaming is not supported.')
  }

  #run<R>({ sql, parameters, bulk }: BulkQuery): QueryResult<R> {
    if (bulk) return { rows: this.#runBulk(bulk) as R[] }
    // Runs once per database, so a prepared statement would only take time and memory.
    if (sql.startsWith('create ') && parameters.length === 0) {
      this.handle.exec(sql)
      return { rows: [] }
    }
    const { statement, isReader } = this.#prepare(sql)
    if (isReader) {
      return { rows: statement.all(...parameters.map(toBindable)) as R[] }
    }
    const { changes, lastInsertRowid } = statement.run(...parameters.map(toBindable))
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
  }

  #runBulk(bulk: Required<BulkQuery>['bulk']): unknown[] {
    const rows: unknown[] = []
    for (const [sql, values] of bulkStatements(bulk)) {
      const { statement, isReader } = this.#prepare(sql)
      if (!isReader) statement.run(...values)
      else {
        // `get` instead of `all`, whose errors have no code in @photostructure/sqlite. An ignored row returns nothing.
        const row = statement.get(...values)
        if (row) rows.push(row)
      }
    }
    return rows
  }

  #prepare(sql: string): PreparedStatement {
    let prepared = this.#statements.get(sql)
    if (!prepared) {
      const statement = this.handle.prepare(sql)
      // Read once, because @photostructure/sqlite needs longer to describe the columns than to write a row.
      prepared = { statement, isReader: statement.reader ?? statement.columns().length > 0 }
      if (this.#statements.size >= MAX_CACHED_STATEMENTS) this.#statements.clear()
      this.#statements.set(sql, prepared)
    }
    return prepared
  }
}

/** Converts values that the drivers reject. */
function toBindable(value: unknown): unknown {
  if (value === undefined) return null
  if (typeof value === 'boolean') return value ? 1 : 0
  return value
}

const MAX_CACHED_STATEMENTS = 200

interface ConnectionParts {
  generation: number
  hostYield: HostYield
  file: SqliteFile | null
}

interface PoolOptions {
  size: number
  open(): Promise<SqliteHandle>
  /** Path of the file. Undefined for an in-memory database. */
  file?: string
  /** True if the tracker owns the file and creates it if missing. */
  isOwnFile?: boolean
  /** True if the handle belongs to the host and must not be closed. */
  shared?: boolean
}

/** Pool with two connections per file, so that pages can read while a flush waits for the write lock. */
class SqlitePool implements Driver {
  readonly #options: PoolOptions
  readonly #idle: SqliteConnection[] = []
  readonly #waiting: { resolve(connection: SqliteConnection): void; reject(error: unknown): void }[] = []
  readonly #all: SqliteConnection[] = []
  readonly #hostYield = new HostYield()
  readonly file: SqliteFile | null
  #opened = 0
  #generation = 0

  constructor(options: PoolOptions) {
    this.#options = options
    const { file: path, isOwnFile = false, open } = options
    this.file = path === undefined ? null : new SqliteFile({ path, isOwnFile, open, onStale: () => this.#closeIdle() })
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteConnection> {
    this.file?.assertNotReplacedThrottled()
    const idle = this.#idle.pop()
    if (idle) return idle
    if (this.#opened < this.#options.size) return this.#open()
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  async releaseConnection(connection: SqliteConnection): Promise<void> {
    const isStale = connection.generation !== this.#generation || (connection.isReadOnly && !this.#options.shared)
    if (isStale) this.#close(connection)
    const next = this.#waiting.shift()
    if (!next) {
      if (!isStale) this.#idle.push(connection)
    } else if (isStale) this.#open().then(next.resolve, next.reject)
    else next.resolve(connection)
  }

  /**
   * Begins in a new event loop iteration in which no page is rendered. The transaction ends in the same iteration. Code
   * of the host never encounters the lock, and its statements never join the transaction.
   */
  async beginTransaction(connection: SqliteConnection): Promise<void> {
    await nextFreeIteration()
    this.file?.assertUndamaged()
    await this.#detectingDamage(() =>
      retryWhileBusy(() => {
        assertNoHostTransaction(connection.handle)
        // A deferred transaction that reads before it writes fails if another process wrote in between.
        connection.handle.exec('begin immediate')
      }),
    )
    connection.isInTransaction = true
  }

  /** Rejects if the file was deleted or replaced, even after the commit, because the committed rows are then lost. */
  async commitTransaction(connection: SqliteConnection): Promise<void> {
    this.file?.assertNotReplaced()
    // Without a write-ahead log, which the host may disable, a commit waits for readers.
    await this.#detectingDamage(() => retryWhileBusy(() => connection.handle.exec('commit')))
    connection.isInTransaction = false
    this.file?.assertNotReplaced()
  }

  async #detectingDamage(work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.file?.detectDamage(error)
      throw error
    }
  }

  async rollbackTransaction(connection: SqliteConnection): Promise<void> {
    connection.isInTransaction = false
    try {
      connection.handle.exec('rollback')
    } catch {
      // SQLite rolls back automatically after a full disk or an I/O error. The caller reports the original error.
    }
  }

  async destroy(): Promise<void> {
    await this.close()
  }

  async close(): Promise<void> {
    const connections = this.#all.splice(0)
    this.#idle.length = 0
    this.#opened = 0
    if (this.#options.shared) return
    const last = connections.at(-1)
    for (const { handle } of connections) {
      if (handle === last?.handle && this.#options.isOwnFile && this.file?.damage === null) truncateLog(handle)
      handle.close()
    }
  }

  /** Closes idle connections. Connections in use are closed when they are released. */
  #closeIdle(): void {
    this.#generation++
    for (const connection of this.#idle.splice(0)) this.#close(connection)
  }

  #close(connection: SqliteConnection): void {
    const index = this.#all.indexOf(connection)
    if (index < 0) return
    this.#all.splice(index, 1)
    this.#opened--
    try {
      connection.handle.close()
    } catch {
      // The file is missing or damaged, so there is nothing to release.
    }
  }

  async #open(): Promise<SqliteConnection> {
    this.#opened++
    try {
      const prepared = this.file?.prepare() ?? null
      const generation = this.#generation
      const handle = await this.#options.open()
      try {
        this.file?.opened(prepared)
      } catch (error) {
        handle.close()
        throw error
      }
      const connection = new SqliteConnection(handle, { generation, hostYield: this.#hostYield, file: this.file })
      this.#all.push(connection)
      return connection
    } catch (error) {
      this.#opened--
      this.file?.detectDamage(error)
      throw error
    }
  }
}

/**
 * Moves the write-ahead log into the file, so that a copy of the file is complete. `close` does that only after all
 * statements are finalized, which @photostructure/sqlite leaves to the garbage collector.
 */
function truncateLog(handle: SqliteHandle): void {
  try {
    handle.exec('pragma wal_checkpoint(truncate)')
  } catch {
    // Another process uses the file and truncates the log later.
  }
}

function openFile({ DatabaseSync }: SqliteLibrary, file: string): SqliteHandle {
  try {
    return new DatabaseSync(file)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new TrackerError(
      'database_unavailable',
      `Cannot open ${file}: ${reason}. Check that its folder exists and is writable.`,
      { cause },
    )
  }
}
