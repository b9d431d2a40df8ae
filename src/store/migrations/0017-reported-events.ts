import { index, type Migration, table } from './table.js'

/** The events that clients numbered themselves, so that one that is sent again counts once. */
export const reportedEvents: Migration = {
  async up(db, dialect) {
    await table(db, dialect, 'faultboard_reported_events')
      .addColumn('application_id', 'bigint', (column) => column.notNull())
      .addColumn('event_digest', 'varchar(32)', (column) => column.notNull())
      .addColumn('batch_id', 'varchar(64)', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('faultboard_reported_events_key', ['application_id', 'event_digest'])
      .execute()
    await index(db, dialect, 'faultboard_reported_events', ['created_at'])
  },
}
