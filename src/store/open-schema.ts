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
