import { addColumn, type Migration } from './table.js'

/** The application's own sources beside a source map, for the lines around a frame. */
export const mapSources: Migration = {
  async up(db, dialect) {
    await addColumn(db, dialect, 'faultboard_source_maps', 'packed_sources', dialect.columns.long_text)
  },
}
