import { sql } from '../kysely.js'
import { addColumn, index, type Migration, tableWithId } from './table.js'

/** Earlier and newer messages and backtraces of an error, for its search. */
export const searchHistory: Migration = {
  async up(db, dialect) {
    // Occurrences leave out a message that equals this one. The message of the error itself follows its newest occurrence.
    await addColumn(db, dialect, 'faultboard_errors', 'first_message', dialect.columns.long_text)
    await sql`update faultboard_errors set first_message = message where first_message is null`.execute(db)

    await tableWithId(db, dialect, 'faultboard_search_history')
      .addColumn('error_id', 'bigint', (column) => column.notNull())
      .addColumn('kind', 'varchar(16)', (column) => column.notNull())
      .addColumn('digest', 'varchar(64)', (column) => column.notNull())
      .addColumn('search_text', dialect.columns.long_text, (column) => column.notNull())
      .execute()
    await index(db, dialect, 'faultboard_search_history', ['error_id', 'digest'])
    await dialect.search.build(db, 'history')
  },
}
