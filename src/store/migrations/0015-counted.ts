import { addColumn, type Migration, table } from './table.js'

/** Statements that ran again and again, and deprecations, as hourly sums; when events of rate limiters were last seen. */
export const counted: Migration = {
  async up(db, dialect) {
    await table(db, dialect, 'faultboard_repeated_statement_hours')
      .addColumn('application_id', 'bigint', (column) => column.notNull())
      .addColumn('hour', 'bigint', (column) => column.notNull())
      .addColumn('statement_digest', 'varchar(64)', (column) => column.notNull())
      .addColumn('statement', 'varchar(1000)', (column) => column.notNull())
      .addColumn('route', 'varchar(500)', (column) => column.notNull())
      .addColumn('place', 'varchar(500)', (column) => column.notNull())
      .addColumn('request_count', 'bigint', (column) => column.notNull())
      .addColumn('statement_count', 'bigint', (column) => column.notNull())
      .addColumn('worst_count', 'bigint', (column) => column.notNull())
      .addColumn('duration_ms', 'bigint', (column) => column.notNull())
      .addColumn('last_seen_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('faultboard_repeated_statement_key', ['application_id', 'hour', 'statement_digest'])
      .execute()

    await table(db, dialect, 'faultboard_deprecation_hours')
      .addColumn('application_id', 'bigint', (column) => column.notNull())
      .addColumn('hour', 'bigint', (column) => column.notNull())
      .addColumn('warning_digest', 'varchar(64)', (column) => column.notNull())
      .addColumn('code', 'varchar(64)', (column) => column.notNull())
      .addColumn('message', 'varchar(1000)', (column) => column.notNull())
      .addColumn('place', 'varchar(500)', (column) => column.notNull())
      .addColumn('app_version', 'varchar(128)', (column) => column.notNull())
      .addColumn('count', 'bigint', (column) => column.notNull())
      .addColumn('first_seen_at', 'bigint', (column) => column.notNull())
      .addColumn('last_seen_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('faultboard_deprecation_key', ['application_id', 'hour', 'warning_digest'])
      .execute()

    // Empty where it was counted before: the hour is all that is known then.
    await addColumn(db, dialect, 'faultboard_request_guard_hours', 'last_seen_at', 'bigint')
  },
}
