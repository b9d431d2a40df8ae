import { type CreatedIndex, createIndex, type Migration } from './table.js'

interface ReplacedIndex extends CreatedIndex {
  table: string
  /** Name of the index without the environment, if there was one. */
  replaced?: string
}

/** Adds the environment to indexes, so that pages of one environment do not have to read each row to check it. */
export const environmentIndexes: Migration = {
  async up(db, dialect) {
    for (const { table, replaced, ...index } of INDEXES) {
      if (index.when?.(dialect) ?? true) await createIndex(db, dialect, table, index)
      if (replaced) await dialect.dropIndexIfExists(db, table, replaced)
    }
  },
}

const INDEXES: readonly ReplacedIndex[] = [
  {
    table: 'faultboard_errors',
    columns: ['occurred_at', 'id', 'environment'],
    replaced: 'faultboard_errors_occurred_at',
  },
  {
    table: 'faultboard_errors',
    columns: ['application_id', 'occurred_at', 'id', 'environment'],
    replaced: 'faultboard_errors_application_id_occurred_at',
  },
  {
    table: 'faultboard_errors',
    columns: ['first_seen_at', 'environment'],
    replaced: 'faultboard_errors_first_seen_at',
  },
  {
    table: 'faultboard_errors',
    columns: ['environment', 'resolved', 'severity'],
    when: ({ hasPartialIndexes }) => !hasPartialIndexes,
  },
  { table: 'faultboard_errors', columns: ['status', 'snoozed_until', 'application_id', 'environment'] },
  {
    table: 'faultboard_application_hours',
    name: 'faultboard_application_hours_versions',
    columns: ['application_id', 'app_version', 'hour', 'environment'],
    replaced: 'faultboard_application_hours_application_id_app_version_hour',
  },
]
