import { addColumn, type Migration } from './table.js'

/** Probability of a cascade by chance. Rows of earlier detections have none until the next hourly run. */
export const cascadeChance: Migration = {
  async up(db, dialect) {
    await addColumn(db, dialect, 'faultboard_cascades', 'expected_probability', 'double precision')
  },
}
