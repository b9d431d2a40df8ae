import { addColumn, type Migration, table } from './table.js'

/** Which errors were sent by clients, and the releases that only clients report. */
export const clientErrors: Migration = {
  async up(db, dialect) {
    await addColumn(db, dialect, 'faultboard_errors', 'source', 'varchar(32)')

    await table(db, dialect, 'faultboard_client_releases')
      .addColumn('application_id', 'bigint', (column) => column.notNull())
      .addColumn('platform', 'varchar(64)', (column) => column.notNull())
      .addColumn('version', 'varchar(128)', (column) => column.notNull())
      .addColumn('first_seen_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('faultboard_client_releases_key', ['application_id', 'platform', 'version'])
      .execute()
  },
}
