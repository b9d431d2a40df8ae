import { addColumn, type Migration } from './table.js'

/**
 * How much of what was raised was reported: what is left then, neither caught nor reported, has vanished. And when
 * something was last swallowed.
 */
export const swallowed: Migration = {
  async up(db, dialect) {
    await addColumn(db, dialect, 'faultboard_swallowed_exceptions', 'reported_count', 'bigint')
    await addColumn(db, dialect, 'faultboard_swallowed_exceptions', 'last_seen_at', 'bigint')
  },
}
