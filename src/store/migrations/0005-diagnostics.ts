import { index, type Migration, table, tableWithId } from './table.js'

/** Swallowed exceptions and request-guard events as hourly sums, and diagnostic dumps. */
export const diagnostics: Migration = {
  async up(db, dialect) {
    const { long_text } = dialect.columns

    await table(db, dialect, 'faultboard_swallowed_exceptions')
      .addColumn('application_id', 'bigint', (column) => column.notNull())
      .addColumn('hour', 'bigint', (column) => column.notNull())
      // The places are longer than a key may be on MySQL, so their digest stands for them.
      .addColumn('location_digest', 'varchar(64)', (column) => column.notNull())
      .addColumn('error_type', 'varchar(255)', (column) => column.notNull())
      .addColumn('raise_location', 'varchar(500)', (column) => column.notNull())
      .addColumn('rescue_location', 'varchar(500)', (column) => column.notNull())
      .addColumn('handler_kind', 'varchar(16)', (column) => column.notNull())
      .addColumn('raise_count', 'bigint', (column) => column.notNull())
      .addColumn('rescue_count', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('faultboard_swallowed_key', ['application_id', 'hour', 'location_digest'])
      .execute()

    await tableWithId(db, dialect, 'faultboard_diagnostic_dumps')
      .addColumn('application_id', 'bigint', (column) => column.notNull())
      .addColumn('note', long_text)
      .addColumn('content', long_text, (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await index(db, dialect, 'faultboard_diagnostic_dumps', ['created_at'])

    await table(db, dialect, 'faultboard_request_guard_hours')
      .addColumn('application_id', 'bigint', (column) => column.notNull())
      .addColumn('hour', 'bigint', (column) => column.notNull())
      .addColumn('event_digest', 'varchar(64)', (column) => column.notNull())
      .addColumn('kind', 'varchar(16)', (column) => column.notNull())
      .addColumn('rule', 'varchar(255)', (column) => column.notNull())
      .addColumn('ip_address', 'varchar(64)', (column) => column.notNull())
      .addColumn('path', 'varchar(500)', (column) => column.notNull())
      .addColumn('count', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('faultboard_request_guard_key', ['application_id', 'hour', 'event_digest'])
      .execute()
  },
}
