import { type DatabaseTarget, describeDatabase } from './database-target.js'
import type { Dialect, ErrorClass } from './dialect.js'
import { mysqlPool, mysqlUrl } from './dialects/mysql.js'
import { postgresPool, postgresUrl } from './dialects/postgres.js'
import { openSqliteFile, openSqliteHandle } from './dialects/sqlite.js'
import { isIntegerColumn } from './integer-columns.js'
import { Kysely, type KyselyPlugin, type Transaction, type UnknownRow } from './kysely.js'
import type { Schema } from './schema.js'
import type { QueryTimeout } from './sql/query-timeout.js'

/** Database of the tracker, with the same interface for every dialect. */
export interface Database {
  readonly target: DatabaseTarget
  readonly dialect: Dialect
  readonly read: Kysely<Schema>
  /** Runs the work in one transaction. Retries after a conflict with a concurrent transaction. */
  write<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>
  /** Calls the listener after each commit of this process. It must not throw. Returns the function that removes it. */
  onWritten(listener: () => void): () => void
  /** Classifies an error of the driver. */
  classifyError(error: unknown): ErrorClass
  /** Returns true if an error means that the database is unreachable, rather than a bug. */
  isUnreachable(error: unknown): boolean
  /** Returns this database with a query timeout. A connection that does not respond is closed. */
  withTimeout(timeout: QueryTimeout): Database
  close(): Promise<void>
}

/** Creates a database without connecting. The first query connects. */
export function createDatabase(option: string | object, root: string): Database {
  const dialect = createDialect(option, root)
  const read = new Kysely<Schema>({ dialect: dialect.kysely, plugins: [integerColumns] })
  const listeners = new Set<() => void>()
  const createWrite = (db: Kysely<Schema>): Database['write'] => {
    return async (work) => {
      const result = await writeWithRetry(db, dialect, work)
      for (const listener of listeners) listener()
      return result
    }
  }
  const database: Database = {
    target: dialect,
    dialect,
    read,
    write: createWrite(read),
    onWritten(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    classifyError: dialect.classifyError,
    isUnreachable: (error) => isUnreachable(error, dialect),
    withTimeout(timeout) {
      const limited = dialect.kyselyWithTimeout?.(timeout)
      if (!limited) return database
      const db = new Kysely<Schema>({ dialect: limited, plugins: [integerColumns] })
      return { ...database, read: db, write: createWrite(db) }
    },
    close: () => dialect.close(),
  }
  return database
}

/** Connects to a URL, or uses a pool or handle of the host. */
const DIALECTS = {
  sqlite: { connect: openSqliteFile, share: openSqliteHandle },
  postgres: { connect: postgresUrl, share: postgresPool },
  mysql: { connect: mysqlUrl, share: mysqlPool },
}

function createDialect(option: string | object, root: string): Dialect {
  const target = describeDatabase(option, root)
  const { connect, share } = DIALECTS[target.name]
  return typeof option === 'string' ? connect(target, option) : share(target, option)
}

const MAX_WRITE_ATTEMPTS = 12
/** A transaction that took longer waited for a lock. A retry would wait for the same lock. */
const LOCK_WAIT_MS = 2000

async function writeWithRetry<T>(
  db: Kysely<Schema>,
  dialect: Dialect,
  work: (trx: Transaction<Schema>) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const started = performance.now()
    try {
      const transaction = db.transaction()
      return await (dialect.isolation ? transaction.setIsolationLevel(dialect.isolation) : transaction).execute(work)
    } catch (error) {
      if (attempt === MAX_WRITE_ATTEMPTS || dialect.classifyError(error) !== 'conflict') throw error
      if (performance.now() - started > LOCK_WAIT_MS) throw error
    }
    await new Promise((resume) => setTimeout(resume, Math.random() * 10 * attempt))
  }
}

const integerColumns: KyselyPlugin = {
  transformQuery: ({ node }) => node,
  async transformResult({ result }) {
    const [first] = result.rows
    if (!first) return result
    // All rows have the same columns.
    const columns = Object.keys(first).filter(isIntegerColumn)
    for (const row of result.rows) convertToNumbers(row, columns)
    return result
  },
}

function convertToNumbers(row: UnknownRow, columns: readonly string[]): void {
  for (const column of columns) {
    const value = row[column]
    if (typeof value !== 'number' && value !== null) row[column] = Number(value)
  }
}

/** Network errors of the operating system and the resolver. */
const NETWORK_CODES: readonly unknown[] = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
]

/** Connection errors that pg, mysql2 and the SQLite libraries report without a code. */
const CONNECTION_MESSAGES =
  /^(Connection terminated|Client has encountered a connection error|Client was closed and is not queryable|timeout e(xceeded when trying to connect|xpired)|Query read timeout|Cannot use a pool after calling end|Can't add new command when connection is in closed state|Pool is closed|The database connection is not open|database is not open)/

/**
 * Returns true if the database is unreachable or locked, so that a retry may succeed. Every other failure of a query is
 * a bug, such as a missing table, a syntax error or a wrong argument.
 */
function isUnreachable(error: unknown, dialect: Dialect): boolean {
  if (!(error instanceof Error)) return false
  const { code, syscall } = error as { code?: unknown; syscall?: unknown }
  // A missing socket file fails with ENOENT, which counts only for a connection.
  if (NETWORK_CODES.includes(code) || syscall === 'connect') return true
  return CONNECTION_MESSAGES.test(error.message) || dialect.isOutage(error)
}
