import { sql } from '../kysely.js'
import { index, type Migration } from './table.js'

/** What the overview asks first: errors that nobody has, and new ones; and which messages were handed over when. */
export const attention: Migration = {
  async up(db, dialect) {
    // SQLite has it since 0007. A new error writes it once; PostgreSQL writes it with every change of the row, which is
    // little beside the indexes by the newest occurrence.
    await index(db, dialect, 'faultboard_errors', ['first_seen_at'])
    await index(db, dialect, 'faultboard_deliveries', ['state', 'queued_at'])
    // MySQL knows no index of some rows only.
    if (dialect.name === 'mysql') return
    await sql`create index if not exists faultboard_errors_unattended on faultboard_errors (severity, occurred_at, snoozed_until, application_id)
      where resolved = 0 and assigned_to is null and severity in ('critical', 'high')`.execute(db)
  },
}
