import { existsSync } from 'node:fs'
import { TrackerError } from '../model/errors.js'
import type { Options } from '../options.js'
import { createDatabase, type Database } from '../store/database.js'

/** Runs the work with the configured database, without a tracker, then closes the database. */
export async function withDatabase<T>(options: Options, work: (database: Database) => Promise<T>): Promise<T> {
  const database = createDatabaseFrom(options)
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** Does not connect. The first query connects. */
export function createDatabaseFrom({ database, project_root }: Options): Database {
  return createDatabase(database, project_root)
}

/** Runs a query. A failure is reported with the database address and a hint. */
export async function runQuery<T>(database: Database, query: () => Promise<T>): Promise<T> {
  try {
    return await query()
  } catch (cause) {
    if (cause instanceof TrackerError) throw cause
    const { message, code } = cause as NodeJS.ErrnoException
    const summary = `Cannot use ${database.dialect.address}: ${message || code || String(cause)}`
    throw new TrackerError('database_unavailable', withHint(summary), { cause })
  }
}

/** Adds a hint to the message that a database cannot be used. */
export function withHint(message: string): string {
  if (!message.startsWith('Cannot use ')) return message
  return message.startsWith('Cannot use sqlite:')
    ? `${message}. Is it a SQLite file that this process can write to?`
    : `${message}. Is the server running, and are the address, user and password correct?`
}

/** Path of an embedded database that does not exist yet, or null. Opening it would create an empty file. */
export function missingFile({ dialect }: Database): string | null {
  const file = dialect.address.slice('sqlite:'.length)
  return dialect.isOwnFile && file !== ':memory:' && !existsSync(file) ? file : null
}
