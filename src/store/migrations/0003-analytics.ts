import { index, type Migration, tableWithId } from './table.js'

/** What scheduled analysis finds out and keeps: baselines and cascades. */
export const analytics: Migration = {
  async up(db, dialect) {
    await tableWithId(db, dialect, 'faultboard_baselines')
      .addColumn('application_id', 'bigint', (column) => column.notNull())
      .addColumn('error_type', 'varchar(255)', (column) => column.notNull())
      .addColumn('platform', 'varchar(64)', (column) => column.notNull())
      .addColumn('granularity', 'varchar(16)', (column) => column.notNull())
      .addColumn('mean', 'double precision', (column) => column.notNull())
      .addColumn('std_dev', 'double precision', (column) => column.notNull())
      .addColumn('sample_count', 'bigint', (column) => column.notNull())
      .addColumn('occurrence_count', 'bigint', (column) => column.notNull())
      .addColumn('calculated_at', 'bigint', (column) => column.notNull())
      .addUniqueConstraint('faultboard_baselines_key', ['application_id', 'error_type', 'platform', 'granularity'])
      .execute()

    await tableWithId(db, dialect, 'faultboard_cascades')
      .addColumn('parent_error_id', 'bigint', (column) => column.notNull())
      .addColumn('child_error_id', 'bigint', (column) => column.notNull())
      .addColumn('parent_count', 'bigint', (column) => column.notNull())
      .addColumn('followed_count', 'bigint', (column) => column.notNull())
      .addColumn('probability', 'double precision', (column) => column.notNull())
      .addColumn('average_delay_ms', 'bigint', (column) => column.notNull())
      .addColumn('first_detected_at', 'bigint', (column) => column.notNull())
      .addColumn('last_detected_at', 'bigint', (column) => column.notNull())
      .addUniqueConstraint('faultboard_cascades_pair', ['parent_error_id', 'child_error_id'])
      .execute()
    await index(db, dialect, 'faultboard_cascades', ['child_error_id'])
  },
}
