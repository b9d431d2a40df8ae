import { addColumn, index, type Migration, table } from './table.js'

/** Who silenced an error, where the dashboard stands, when messages are due, and which jobs are the same. */
export const notifications: Migration = {
  async up(db, dialect) {
    await addColumn(db, dialect, 'faultboard_errors', 'muted_at', 'bigint')
    await addColumn(db, dialect, 'faultboard_errors', 'muted_until', 'bigint')
    await addColumn(db, dialect, 'faultboard_errors', 'muted_by_name', 'varchar(255)')
    await addColumn(db, dialect, 'faultboard_errors', 'mute_reason', 'text')

    await addColumn(db, dialect, 'faultboard_applications', 'dashboard_path', 'varchar(255)')

    await addColumn(db, dialect, 'faultboard_jobs', 'job_key', 'varchar(190)')
    await index(db, dialect, 'faultboard_jobs', ['job_key'], { unique: true })

    await addColumn(db, dialect, 'faultboard_deliveries', 'run_at', 'bigint')
    await addColumn(db, dialect, 'faultboard_deliveries', 'queued_at', 'bigint')
    await addColumn(db, dialect, 'faultboard_deliveries', 'locked_until', 'bigint')
    await index(db, dialect, 'faultboard_deliveries', ['state', 'run_at'])
    await index(db, dialect, 'faultboard_deliveries', ['error_id', 'channel'], { present: 'error_id' })
    // All that the log filters and counts by: the rows themselves hold whole messages.
    await index(db, dialect, 'faultboard_deliveries', ['state', 'channel', 'application_id'])

    // It could only tell of errors, and nothing was ever written to it.
    await db.schema.dropTable('faultboard_notification_marks').ifExists().execute()
    await table(db, dialect, 'faultboard_cooldowns')
      .addColumn('name', 'varchar(190)', (column) => column.primaryKey())
      .addColumn('until', 'bigint', (column) => column.notNull())
      .execute()
    await index(db, dialect, 'faultboard_cooldowns', ['until'])
  },
}
