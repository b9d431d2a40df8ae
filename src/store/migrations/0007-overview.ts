import { dropIndex, index, type Migration } from './table.js'

/** What keeps the overview quick: who was met lately, what was resolved lately, and the sums of a week or a month. */
export const overview: Migration = {
  async up(db, dialect) {
    await index(db, dialect, 'faultboard_errors', ['resolved_at', 'first_seen_at', 'application_id'], {
      present: 'resolved_at',
    })
    await index(db, dialect, 'faultboard_error_users', ['last_seen_at', 'user_id', 'error_id', 'first_seen_at'])

    // An embedded database holds the host's thread while it reads, so there the answers stand in the indexes themselves.
    // PostgreSQL would lose more by writing them: without an index on its count, a sum that grows stays in its place.
    if (dialect.name !== 'sqlite') return
    await index(db, dialect, 'faultboard_errors', ['first_seen_at'])
    await index(db, dialect, 'faultboard_errors', ['platform', 'application_id'])
    await index(db, dialect, 'faultboard_errors', [
      'error_type',
      'application_id',
      'platform',
      'resolved',
      'severity',
      'assigned_to',
      'snoozed_until',
      'occurrence_count',
      'occurred_at',
    ])
    await index(db, dialect, 'faultboard_application_hours', [
      'hour',
      'severity',
      'application_id',
      'platform',
      'app_version',
      'count',
    ])
    await index(db, dialect, 'faultboard_error_hours', ['hour', 'error_id', 'count'])
    await dropIndex(db, dialect, 'faultboard_error_hours', 'faultboard_error_hours_hour_error_id')
  },
}
