import { addColumn, index, type Migration, table } from './table.js'

/** What similar errors share, when releases were first seen, in which one an error was resolved, and what follows what. */
export const insight: Migration = {
  async up(db, dialect) {
    await table(db, dialect, 'faultboard_error_features')
      .addColumn('error_id', 'bigint', (column) => column.notNull())
      .addColumn('feature', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('faultboard_error_features_key', ['error_id', 'feature'])
      .execute()
    await index(db, dialect, 'faultboard_error_features', ['feature', 'error_id'])

    await table(db, dialect, 'faultboard_releases')
      .addColumn('application_id', 'bigint', (column) => column.notNull())
      .addColumn('platform', 'varchar(64)', (column) => column.notNull())
      .addColumn('version', 'varchar(128)', (column) => column.notNull())
      .addColumn('first_seen_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('faultboard_releases_key', ['application_id', 'platform', 'version'])
      .execute()

    await addColumn(db, dialect, 'faultboard_errors', 'resolved_in_version', 'varchar(128)')
    await addColumn(db, dialect, 'faultboard_errors', 'regressed_in_version', 'varchar(128)')

    await table(db, dialect, 'faultboard_cascade_hours')
      .addColumn('hour', 'bigint', (column) => column.notNull())
      .addColumn('parent_error_id', 'bigint', (column) => column.notNull())
      .addColumn('child_error_id', 'bigint', (column) => column.notNull())
      .addColumn('followed_count', 'bigint', (column) => column.notNull())
      .addColumn('delay_ms', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('faultboard_cascade_hours_key', ['hour', 'parent_error_id', 'child_error_id'])
      .execute()

    await table(db, dialect, 'faultboard_cascade_parents')
      .addColumn('hour', 'bigint', (column) => column.notNull())
      .addColumn('error_id', 'bigint', (column) => column.notNull())
      .addColumn('count', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('faultboard_cascade_parents_key', ['hour', 'error_id'])
      .execute()
  },
}
