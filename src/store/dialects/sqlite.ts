import { resolve } from 'node:path'
import { TrackerError } from '../../model/errors.js'
import { conflictClause, insertHead, oncePerTarget, returningClause, type Spelling } from '../bulk-sql.js'
import type { BulkRow, BulkTarget, Dialect, Fault } from '../dialect.js'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type UnknownRow,
} from '../kysely.js'
import type { Schema } from '../schema.js'
import { HostTurn } from './host-turn.js'
import { sqliteCapabilities } from './sqlite-capabilities.js'
import type { SqliteHandle, SqliteStatement } from './sqlite-file.js'
import { SqliteFile } from './sqlite-file.js'
import { sqliteSearch } from './sqlite-search.js'

/** An embedded database in a file of ours. */
export function sqliteFile(url: string, root: string): Dialect {
  const name = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '')
  const file = name === ':memory:' ? name : resolve(root, name)
  const open = async () => {
    const handle = openFile(await loadSqlite(), file)
    try {
      await whileBusy(() => handle.exec('pragma journal_mode = wal'))
      handle.exec('pragma synchronous = normal; pragma busy_timeout = 0')
    } catch (error) {
      handle.close()
      throw error
    }
    return handle
  }
  const pool =
    file === ':memory:' ? new SqlitePool({ size: 1, open }) : new SqlitePool({ size: 2, open, file, creates: true })
  return sqliteDialect({ pool, address: `sqlite:${file}`, migrates_itself: true })
}

/**
 * The host's own database. A file is opened a second time through the host's own library, so that our transactions and
 * the host's never mix; two different copies of SQLite in one process must not open the same file, because closing one
 * drops the locks of the other. Only a database in memory is shared as it is.
 */
export function sqliteHandle(handle: SqliteHandle): Dialect {
  const file = fileOf(handle)
  const Library = handle.constructor as new (file: string) => SqliteHandle
  const pool = file
    ? new SqlitePool({ size: 2, open: async () => openAgain(Library, file), file, creates: false })
    : new SqlitePool({ size: 1, open: async () => handle, shared: true })
  return sqliteDialect({ pool, address: `sqlite:${file ?? ':memory:'} (the host's handle)`, migrates_itself: false })
}

function openAgain(Library: new (file: string) => SqliteHandle, file: string): SqliteHandle {
  const handle = new Library(file)
  handle.exec('pragma busy_timeout = 0')
  return handle
}

export function isSqliteHandle(value: object): value is SqliteHandle {
  return (
    'prepare' in value && typeof value.prepare === 'function' && 'exec' in value && typeof value.exec === 'function'
  )
}

interface SqliteParts {
  pool: SqlitePool
  address: string
  migrates_itself: boolean
}

function sqliteDialect({ pool, address, migrates_itself }: SqliteParts): Dialect {
  return {
    ...sqliteCapabilities,
    name: 'sqlite',
    address,
    migrates_itself,
    maxRowsPerFlush: 250,
    kysely: {
      createDriver: () => pool,
      createAdapter: () => new TransactionalAdapter(),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createIntrospector: (db) => new SqliteIntrospector(db),
    },
    columns: { id: 'integer', identity: (column) => column.primaryKey().autoIncrement(), long_text: 'text' },
    table_options: null,
    isolation: null,
    search: sqliteSearch,
    blocks_host: true,
    insertMany,
    faultOf,
    isOutage,
    ...(pool.file ? { file: pool.file } : {}),
    closeConnections: () => true,
    close: () => pool.close(),
  }
}

/** SQLite can undo DDL, and the lock of the transaction lets one process of several migrate. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

const SPELLING: Spelling = { quote: '"', incoming: (column) => `excluded."${column}"`, greatest: 'max', least: 'min' }

const insertSql = oncePerTarget((target) => {
  const values = `values (${target.columns.map(() => '?').join(', ')})`
  return `${insertHead(target, SPELLING)} ${values}${conflictClause(target, SPELLING)}${returningClause(target)}`
})

/** One prepared statement run once per row: without a network between, nothing is faster. */
async function insertMany(db: Kysely<Schema>, target: BulkTarget, rows: readonly BulkRow[]): Promise<UnknownRow[]> {
  const query: BulkQuery = { ...CompiledQuery.raw(insertSql(target)), bulk: rows }
  return (await db.executeQuery<UnknownRow>(query)).rows
}

/** A statement that our own connection runs once for each row. */
type BulkQuery = CompiledQuery & { readonly bulk?: readonly BulkRow[] }

/** Wrong data and violated constraints. Any other code is trouble with the file or the schema, which hits all alike and passes. */
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

function faultOf(error: unknown): Fault {
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

/** Errors of `all` in @photostructure/sqlite have no number. */
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

/**
 * Waits for a lock without standing still: SQLite's own busy_timeout would block the host's thread for as long.
 */
async function whileBusy<T>(attempt: () => T): Promise<T> {
  for (const deadline = performance.now() + LOCK_WAIT_MS; ; ) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error
    }
    await new Promise((resume) => setTimeout(resume, 1 + Math.random() * 4))
  }
}

/** On a handle that is shared with the host, its transactions are the host's alone. */
function assertIdle(handle: SqliteHandle): void {
  if (!(handle.isTransaction ?? handle.inTransaction)) return
  throw Object.assign(new Error("the host's handle is in the middle of a transaction"), { errcode: 5 })
}

class SqliteConnection implements DatabaseConnection {
  readonly handle: SqliteHandle
  /** Of the pool when it was opened. */
  readonly generation: number
  in_transaction = false
  readonly #turn: HostTurn
  readonly #file: SqliteFile | null
  readonly #statements = new Map<string, SqliteStatement>()

  constructor(handle: SqliteHandle, { generation, turn, file }: ConnectionParts) {
    this.handle = handle
    this.generation = generation
    this.#turn = turn
    this.#file = file
  }

  async executeQuery<R>(query: BulkQuery): Promise<QueryResult<R>> {
    try {
      if (this.in_transaction) return this.#run(query)
      await this.#turn.giveWay()
      return await whileBusy(() => {
        assertIdle(this.handle)
        return this.#run(query)
      })
    } catch (error) {
      this.#file?.noteError(error)
      throw error
    }
  }

  // biome-ignore lint/correctness/useYield: nothing of ours streams; Kysely asks for the method.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('streaming is not supported')
  }

  #run<R>({ sql, parameters, bulk }: BulkQuery): QueryResult<R> {
    const statement = this.#prepare(sql)
    const isReader = statement.reader ?? statement.columns().length > 0
    // Not `all`, whose errors come without their code from @photostructure/sqlite.
    // A row that was there already gives nothing back.
    if (bulk && isReader) return { rows: bulk.flatMap((row) => statement.get(...row) ?? []) as R[] }
    if (bulk) {
      for (const row of bulk) statement.run(...row)
      return { rows: [] }
    }
    if (isReader) {
      return { rows: statement.all(...parameters.map(bindable)) as R[] }
    }
    const { changes, lastInsertRowid } = statement.run(...parameters.map(bindable))
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
  }

  #prepare(sql: string): SqliteStatement {
    let statement = this.#statements.get(sql)
    if (!statement) {
      statement = this.handle.prepare(sql)
      if (this.#statements.size >= 200) this.#statements.clear()
      this.#statements.set(sql, statement)
    }
    return statement
  }
}

/** The drivers store a Date as NULL and refuse a boolean: neither may reach them. */
function bindable(value: unknown): unknown {
  if (value === undefined) return null
  if (typeof value === 'boolean') return value ? 1 : 0
  return value
}

interface ConnectionParts {
  generation: number
  turn: HostTurn
  file: SqliteFile | null
}

interface PoolOptions {
  size: number
  open(): Promise<SqliteHandle>
  /** The path of the file, and whether it is created when it is missing. Left out: a database in memory. */
  file?: string
  creates?: boolean
  /** The handle is the host's: it is never closed. */
  shared?: boolean
}

/** Two connections to one file, so that a page is read while a flush waits for its turn to write. */
class SqlitePool implements Driver {
  readonly #options: PoolOptions
  readonly #idle: SqliteConnection[] = []
  readonly #waiting: { resolve(connection: SqliteConnection): void; reject(error: unknown): void }[] = []
  readonly #all: SqliteConnection[] = []
  readonly #turn = new HostTurn()
  readonly file: SqliteFile | null
  #opened = 0
  #generation = 0

  constructor(options: PoolOptions) {
    this.#options = options
    const { file: path, creates = false, open } = options
    this.file = path === undefined ? null : new SqliteFile({ path, creates, open, onStale: () => this.#closeIdle() })
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteConnection> {
    this.file?.assertInPlaceNow()
    const idle = this.#idle.pop()
    if (idle) return idle
    if (this.#opened < this.#options.size) return this.#open()
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  async releaseConnection(connection: SqliteConnection): Promise<void> {
    const isStale = connection.generation !== this.#generation
    if (isStale) this.#close(connection)
    const next = this.#waiting.shift()
    if (!next) {
      if (!isStale) this.#idle.push(connection)
    } else if (isStale) this.#open().then(next.resolve, next.reject)
    else next.resolve(connection)
  }

  /**
   * Begins in a turn of the event loop of its own. From here to the commit nothing of ours waits for another turn, so
   * that code of the host in this process never meets our lock, nor finds its own statements in our transaction.
   */
  async beginTransaction(connection: SqliteConnection): Promise<void> {
    await new Promise((resume) => setImmediate(resume))
    this.file?.assertSound()
    await this.#noting(() =>
      whileBusy(() => {
        assertIdle(connection.handle)
        // A deferred transaction that reads first and then wants to write fails at once when another wrote in between.
        connection.handle.exec('begin immediate')
      }),
    )
    connection.in_transaction = true
  }

  /** Rejects if the file was deleted or replaced, even after the commit: what was committed is then in no file. */
  async commitTransaction(connection: SqliteConnection): Promise<void> {
    this.file?.assertInPlace()
    // Without a write-ahead log, which is the host's choice, a commit waits for the readers.
    await this.#noting(() => whileBusy(() => connection.handle.exec('commit')))
    connection.in_transaction = false
    this.file?.assertInPlace()
  }

  async #noting(work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.file?.noteError(error)
      throw error
    }
  }

  async rollbackTransaction(connection: SqliteConnection): Promise<void> {
    connection.in_transaction = false
    try {
      connection.handle.exec('rollback')
    } catch {
      // After a full disk or an I/O error SQLite has rolled back by itself; its first complaint is the one that counts.
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
      if (handle === last?.handle && this.#options.creates && this.file?.damage === null) emptyLog(handle)
      handle.close()
    }
  }

  /** Connections in use are closed when they are released. */
  #closeIdle(): void {
    this.#generation++
    for (const connection of this.#idle.splice(0)) this.#close(connection)
  }

  #close(connection: SqliteConnection): void {
    const at = this.#all.indexOf(connection)
    if (at < 0) return
    this.#all.splice(at, 1)
    this.#opened--
    try {
      connection.handle.close()
    } catch {
      // Nothing is left to release of a file that is gone or damaged.
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
      const connection = new SqliteConnection(handle, { generation, turn: this.#turn, file: this.file })
      this.#all.push(connection)
      return connection
    } catch (error) {
      this.#opened--
      this.file?.noteError(error)
      throw error
    }
  }
}

/**
 * Moves the write-ahead log into the file, so that a copy of the file alone is complete. `close` does so only when all
 * statements are finalized, which @photostructure/sqlite leaves to the garbage collector.
 */
function emptyLog(handle: SqliteHandle): void {
  try {
    handle.exec('pragma wal_checkpoint(truncate)')
  } catch {
    // Another process uses the file; the last one to close it empties the log.
  }
}

function fileOf(handle: SqliteHandle): string | null {
  const named = handle as SqliteHandle & { location?: () => string | null; name?: string }
  const file =
    typeof named.location === 'function' ? named.location() : typeof named.name === 'string' ? named.name : null
  return file && file !== ':memory:' ? file : null
}

export interface SqliteLibrary {
  DatabaseSync: new (file: string) => SqliteHandle
}

/** Node's own SQLite is stable from Node 24 on; below it the same interface comes from a package with its binaries inside. */
export async function loadSqlite(): Promise<SqliteLibrary> {
  if (Number(process.versions.node.split('.')[0]) >= 24) return (await import('node:sqlite' as string)) as SqliteLibrary
  return (await import('@photostructure/sqlite')) as unknown as SqliteLibrary
}

function openFile({ DatabaseSync }: SqliteLibrary, file: string): SqliteHandle {
  try {
    return new DatabaseSync(file)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new TrackerError(
      'database_unavailable',
      `Cannot open ${file}: ${reason}. Does its folder exist, and may this process write there?`,
      { cause },
    )
  }
}
