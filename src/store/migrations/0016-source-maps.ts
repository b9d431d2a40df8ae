import { index, type Migration, tableWithId } from './table.js'

/** Source maps of scripts that run elsewhere, by release. */
export const sourceMaps: Migration = {
  async up(db, dialect) {
    const { long_text } = dialect.columns
    await tableWithId(db, dialect, 'faultboard_source_maps')
      .addColumn('application_id', 'bigint', (column) => column.notNull())
      .addColumn('release_name', 'varchar(128)', (column) => column.notNull())
      .addColumn('file_name', 'varchar(1000)', (column) => column.notNull())
      .addColumn('file_digest', 'varchar(64)', (column) => column.notNull())
      .addColumn('debug_id', 'varchar(64)')
      .addColumn('folder', 'varchar(500)', (column) => column.notNull())
      .addColumn('packed_map', long_text, (column) => column.notNull())
      .addColumn('packed_code', long_text)
      .addColumn('map_bytes', 'bigint', (column) => column.notNull())
      .addColumn('packed_bytes', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await index(db, dialect, 'faultboard_source_maps', ['application_id', 'file_digest'], { unique: true })
    await index(db, dialect, 'faultboard_source_maps', ['application_id', 'release_name'])
  },
}
