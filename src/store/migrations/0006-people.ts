import { createTable, type Migration } from './table.js'

/** Adds the people who sign in to the dashboard. */
export const people: Migration = {
  up: (db, dialect) =>
    createTable(db, dialect, 'faultboard_people', {
      columns: {
        name: { type: 'varchar(255)', isPrimaryKey: true },
        email: { type: 'varchar(254)', isNullable: true },
        last_seen_at: { type: 'bigint' },
      },
      indexes: [{ columns: ['last_seen_at'] }],
    }),
}
