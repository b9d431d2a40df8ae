import { index, type Migration, table, tableWithId } from './table.js'

/** The embedded job engine, who runs which schedule, and what was sent to whom. */
export const jobs: Migration = {
  async up(db, dialect) {
    const { long_text } = dialect.columns

    await tableWithId(db, dialect, 'faultboard_jobs')
      .addColumn('name', 'varchar(100)', (column) => column.notNull())
      .addColumn('payload', long_text, (column) => column.notNull())
      .addColumn('state', 'varchar(16)', (column) => column.notNull())
      .addColumn('run_at', 'bigint', (column) => column.notNull())
      .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('max_attempts', 'integer', (column) => column.notNull())
      .addColumn('locked_by', 'varchar(100)')
      .addColumn('locked_until', 'bigint')
      .addColumn('last_error', long_text)
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('finished_at', 'bigint')
      .execute()
    await index(db, dialect, 'faultboard_jobs', ['state', 'run_at'])

    await table(db, dialect, 'faultboard_leases')
      .addColumn('name', 'varchar(100)', (column) => column.primaryKey())
      .addColumn('holder', 'varchar(100)')
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('last_run_at', 'bigint')
      .execute()

    await tableWithId(db, dialect, 'faultboard_deliveries')
      .addColumn('idempotency_key', 'varchar(128)', (column) => column.notNull().unique())
      .addColumn('channel', 'varchar(32)', (column) => column.notNull())
      .addColumn('event', 'varchar(32)', (column) => column.notNull())
      .addColumn('error_id', 'bigint')
      .addColumn('application_id', 'bigint')
      .addColumn('state', 'varchar(16)', (column) => column.notNull())
      .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('payload', long_text, (column) => column.notNull())
      .addColumn('last_answer', long_text)
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('finished_at', 'bigint')
      .execute()
    await index(db, dialect, 'faultboard_deliveries', ['created_at'])

    await table(db, dialect, 'faultboard_notification_marks')
      .addColumn('error_id', 'bigint', (column) => column.notNull())
      .addColumn('kind', 'varchar(64)', (column) => column.notNull())
      .addColumn('sent_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('faultboard_notification_marks_key', ['error_id', 'kind'])
      .execute()
  },
}
