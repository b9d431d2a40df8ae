import { dropIndex, index, type Migration } from './table.js'

/** What keeps the list of errors quick: an index for its search, and some for its filters and counts. */
export const list: Migration = {
  async up(db, dialect) {
    await dialect.search.build(db, 'first')

    // Which errors occurred on a day is read from the index alone, and the old one is its beginning.
    await index(db, dialect, 'faultboard_error_hours', ['hour', 'error_id'])
    await dropIndex(db, dialect, 'faultboard_error_hours', 'faultboard_error_hours_hour')

    // None of these columns is touched by a repeat of an error. PostgreSQL writes every index of a row that changes at
    // all, and counts all rows about as fast as it would read this one; there only those with a value are kept.
    if (dialect.name === 'sqlite') {
      await index(db, dialect, 'faultboard_errors', ['status', 'snoozed_until', 'application_id'])
    }
    await index(db, dialect, 'faultboard_errors', ['assigned_to', 'application_id'], { present: 'assigned_to' })
    await index(db, dialect, 'faultboard_errors', ['reopened_at'], { present: 'reopened_at' })
  },
}
