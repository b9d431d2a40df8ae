import { failureMessage, TrackerError } from '../model/errors.js'
import type { Database } from './database.js'
import { describePendingMigrations, migrate } from './migrate.js'

/** Ensures that the schema is up to date. Migrates SQLite. For a server, the error contains the command. */
export async function openSchema(database: Database): Promise<void> {
  try {
    await database.dialect.file?.verify()
    const pending = await describePendingMigrations(database)
    if (pending === null) return
    if (!database.dialect.isEmbedded) throw new TrackerError('schema_outdated', pending)
    await migrate(database)
  } catch (cause) {
    if (cause instanceof TrackerError) throw cause
    throw new TrackerError('database_unavailable', `Cannot use ${database.dialect.address}: ${failureMessage(cause)}`, {
      cause,
    })
  }
}
