import { sql } from '../kysely.js'
import { addColumn, type Migration } from './table.js'

/** The time of the occurrence that an error shows. It differs from `occurred_at` if the newest one has no row. */
export const shownOccurrence: Migration = {
  async up(db, dialect) {
    await addColumn(db, dialect, 'faultboard_errors', 'shown_at', 'bigint')
    await sql`update faultboard_errors set shown_at = occurred_at where shown_at is null`.execute(db)
  },
}
