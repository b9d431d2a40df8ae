import { existsSync } from 'node:fs'
import type { Options } from '../config/options.js'
import { TrackerError } from '../model/errors.js'
import { createDatabase, type Database } from '../store/database.js'

/** Lends the work the configured database, without a tracker around it, and closes it. */
export async function withDatabase<T>(options: Options, work: (database: Database) => Promise<T>): Promise<T> {
  const database = databaseOf(options)
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** Opens nothing yet: the first query does. */
export function databaseOf({ database, project_root }: Options): Database {
  return createDatabase(database, project_root)
}

/** A question to the database, whose failure is told with its address and what to look at. */
export async function ask<T>(database: Database, question: () => Promise<T>): Promise<T> {
  try {
    return await question()
  } catch (cause) {
    if (cause instanceof TrackerError) throw cause
    const { message, code } = cause as NodeJS.ErrnoException
    const sentence = `Cannot use ${database.dialect.address}: ${message || code || String(cause)}`
    throw new TrackerError('database_unavailable', withNextStep(sentence), { cause })
  }
}

/** The sentence that a database cannot be used, with what to look at. */
export function withNextStep(sentence: string): string {
  if (!sentence.startsWith('Cannot use ')) return sentence
  return sentence.startsWith('Cannot use sqlite:')
    ? `${sentence}. Is it an SQLite file that this process may write?`
    : `${sentence}. Is the server running, and are address, user and password right?`
}

/** The file of an embedded database that does not exist yet, or null. Only opening it would make an empty one. */
export function missingFile({ dialect }: Database): string | null {
  const file = dialect.address.slice('sqlite:'.length)
  return dialect.migrates_itself && file !== ':memory:' && !existsSync(file) ? file : null
}
