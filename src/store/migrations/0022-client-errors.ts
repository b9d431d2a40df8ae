import { addColumn, index, type Migration, table } from './table.js'

/** Which errors were sent by clients, the releases that clients report, and the usage of budgets. */
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

    await table(db, dialect, 'faultboard_budget_usage')
      .addColumn('application_id', 'bigint', (column) => column.notNull())
      .addColumn('budget', 'varchar(64)', (column) => column.notNull())
      .addColumn('period', 'bigint', (column) => column.notNull())
      .addColumn('amount', 'bigint', (column) => column.notNull())
      .addColumn('closed_at', 'bigint')
      .addPrimaryKeyConstraint('faultboard_budget_usage_key', ['application_id', 'budget', 'period'])
      .execute()
    await index(db, dialect, 'faultboard_budget_usage', ['period'])

    await table(db, dialect, 'faultboard_rejection_hours')
      .addColumn('application_id', 'bigint', (column) => column.notNull())
      .addColumn('hour', 'bigint', (column) => column.notNull())
      .addColumn('budget_digest', 'varchar(64)', (column) => column.notNull())
      .addColumn('budget', 'varchar(64)', (column) => column.notNull())
      .addColumn('count', 'bigint', (column) => column.notNull())
      .addColumn('first_seen_at', 'bigint', (column) => column.notNull())
      .addColumn('last_seen_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('faultboard_rejection_hours_key', ['application_id', 'hour', 'budget_digest'])
      .execute()
    await index(db, dialect, 'faultboard_rejection_hours', ['hour'])
  },
}
