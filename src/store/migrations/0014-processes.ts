import { index, type Migration, table, tableWithId } from './table.js'

/** The processes that report here, and how each was doing minute by minute. */
export const processes: Migration = {
  async up(db, dialect) {
    await tableWithId(db, dialect, 'faultboard_processes')
      .addColumn('process_key', 'varchar(64)', (column) => column.notNull())
      .addColumn('application_id', 'bigint', (column) => column.notNull())
      .addColumn('hostname', 'varchar(255)', (column) => column.notNull())
      .addColumn('pid', 'bigint', (column) => column.notNull())
      .addColumn('node_version', 'varchar(64)', (column) => column.notNull())
      .addColumn('app_version', 'varchar(128)')
      .addColumn('started_at', 'bigint', (column) => column.notNull())
      .addColumn('last_minute', 'bigint', (column) => column.notNull())
      .execute()
    await index(db, dialect, 'faultboard_processes', ['process_key'], { unique: true })
    await index(db, dialect, 'faultboard_processes', ['application_id', 'last_minute'])

    await table(db, dialect, 'faultboard_process_minutes')
      .addColumn('process_id', 'bigint', (column) => column.notNull())
      .addColumn('minute', 'bigint', (column) => column.notNull())
      .addColumn('rss_bytes', 'bigint', (column) => column.notNull())
      .addColumn('heap_used_bytes', 'bigint', (column) => column.notNull())
      .addColumn('heap_limit_bytes', 'bigint', (column) => column.notNull())
      .addColumn('handles', 'bigint', (column) => column.notNull())
      .addColumn('errors', 'bigint', (column) => column.notNull())
      .addColumn('delay_p50_ms', 'double precision')
      .addColumn('delay_p99_ms', 'double precision')
      .addColumn('delay_max_ms', 'double precision')
      .addColumn('utilisation', 'double precision', (column) => column.notNull())
      .addColumn('cpu', 'double precision', (column) => column.notNull())
      .addColumn('gc_ms', 'double precision', (column) => column.notNull())
      .addPrimaryKeyConstraint('faultboard_process_minutes_key', ['process_id', 'minute'])
      .execute()
  },
}
