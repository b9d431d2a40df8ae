import { TrackerError } from '../model/errors.js'
import type { Dialect } from './dialect.js'
import { isMysqlPool, mysqlPool, mysqlUrl } from './dialects/mysql.js'
import { isPostgresPool, postgresPool, postgresUrl } from './dialects/postgres.js'
import { isSqliteHandle, sqliteFile, sqliteHandle } from './dialects/sqlite.js'
import { isInteger } from './integer-columns.js'
import { Kysely, type KyselyPlugin, type Transaction, type UnknownRow } from './kysely.js'
import type { QueryTimeout } from './query-timeout.js'
import type { Schema } from './schema.js'
import { isUnreachable } from './unreachable.js'

/** The tracker's database, whichever it is. */
export interface Database {
  readonly dialect: Dialect
  readonly read: Kysely<Schema>
  /** Runs the work in one transaction, again when others got in its way. */
  write<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>
  /** Tells of every transaction that this process has committed; gives the function that ends it. It must not throw. */
  onWritten(listener: () => void): () => void
  /** Whether what was thrown is the driver's word that the database does not answer, and no bug of ours. */
  isUnreachable(error: unknown): boolean
  /** This database with a limit on how long each query waits. A connection that does not respond is closed. */
  withTimeout(timeout: QueryTimeout): Database
  close(): Promise<void>
}

/** Opens nothing yet: the first query does. */
export function createDatabase(option: string | object, root: string): Database {
  const dialect = dialectOf(option, root)
  const read = new Kysely<Schema>({ dialect: dialect.kysely, plugins: [integerColumns] })
  const listeners = new Set<() => void>()
  const writing = (db: Kysely<Schema>): Database['write'] => {
    return async (work) => {
      const result = await writeWithRetry(db, dialect, work)
      for (const listener of listeners) listener()
      return result
    }
  }
  const database: Database = {
    dialect,
    read,
    write: writing(read),
    onWritten(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    isUnreachable: (error) => isUnreachable(error, dialect),
    withTimeout(timeout) {
      const patient = dialect.patientKysely?.(timeout)
      if (!patient) return database
      const db = new Kysely<Schema>({ dialect: patient, plugins: [integerColumns] })
      return { ...database, read: db, write: writing(db) }
    },
    close: () => dialect.close(),
  }
  return database
}

function dialectOf(option: string | object, root: string): Dialect {
  if (typeof option === 'string') {
    if (option.startsWith('sqlite:')) return sqliteFile(option, root)
    if (/^postgres(ql)?:/.test(option)) return postgresUrl(option)
    return mysqlUrl(option)
  }
  if (isPostgresPool(option)) return postgresPool(option)
  if (isMysqlPool(option)) return mysqlPool(option)
  if (isSqliteHandle(option)) return sqliteHandle(option)
  throw new TrackerError(
    'configuration_invalid',
    'database is an object of a kind Faultboard does not know: it takes a pg Pool, a mysql2 pool, a node:sqlite or better-sqlite3 handle, or an address',
  )
}

const WRITE_TRIES = 12
/** A transaction that lasted this long waited for a lock, and would wait for it again. */
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
      if (attempt === WRITE_TRIES || dialect.faultOf(error) !== 'conflict') throw error
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
    // All rows have the columns of the first.
    const columns = Object.keys(first).filter(isInteger)
    for (const row of result.rows) makeIntegers(row, columns)
    return result
  },
}

function makeIntegers(row: UnknownRow, columns: readonly string[]): void {
  for (const column of columns) {
    const value = row[column]
    if (typeof value !== 'number' && value !== null) row[column] = Number(value)
  }
}
