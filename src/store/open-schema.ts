import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Options } from '../config/options.js'
import { failureMessage, TrackerError } from '../model/errors.js'
import type { Database } from './database.js'
import { describePendingMigrations, migrate } from './migrate.js'

/**
 * Ensures that the schema is up to date. Migrates a database of the tracker. For a database of the host, the error
 * contains the command.
 */
export async function openSchema(database: Database): Promise<void> {
  try {
    await database.dialect.file?.verify()
    const pending = await describePendingMigrations(database)
    if (pending === null) return
    if (!database.dialect.migratesAutomatically) throw new TrackerError('schema_outdated', pending)
    await migrate(database)
  } catch (cause) {
    if (cause instanceof TrackerError) throw cause
    throw new TrackerError('database_unavailable', `Cannot use ${database.dialect.address}: ${failureMessage(cause)}`, {
      cause,
    })
  }
}

/** Returns a folder next to an embedded database. Otherwise, a private folder per database and application. */
export function spoolFolder({ spool_path, application_name }: Options, database: Database): string {
  if (spool_path) return spool_path
  const { address, migratesAutomatically } = database.dialect
  if (migratesAutomatically && !address.includes(':memory:')) return `${address.slice('sqlite:'.length)}-spool`
  const key = createHash('sha256').update(`${address}\n${application_name}`).digest('hex').slice(0, 16)
  return join(tmpdir(), `faultboard-${process.getuid?.() ?? 'user'}-${key}`)
}
