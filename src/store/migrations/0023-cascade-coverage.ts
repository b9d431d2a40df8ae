import { addColumn, type Migration } from './table.js'

/** Time of an hour that an occurrence follows within the cascade window. Hours counted before have none. */
export const cascadeCoverage: Migration = {
  async up(db, dialect) {
    await addColumn(db, dialect, 'faultboard_cascade_parents', 'covered_ms', 'bigint')
  },
}
