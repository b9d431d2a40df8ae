import { index, type Migration, tableWithId } from './table.js'

/** What people do with errors: comments, the activity trail, saved views. */
export const triage: Migration = {
  async up(db, dialect) {
    const { long_text } = dialect.columns

    await tableWithId(db, dialect, 'faultboard_comments')
      .addColumn('error_id', 'bigint', (column) => column.notNull())
      .addColumn('author_name', 'varchar(255)', (column) => column.notNull())
      .addColumn('body', long_text, (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await index(db, dialect, 'faultboard_comments', ['error_id'])

    await tableWithId(db, dialect, 'faultboard_activities')
      .addColumn('error_id', 'bigint', (column) => column.notNull())
      .addColumn('actor', 'varchar(255)', (column) => column.notNull())
      .addColumn('action', 'varchar(32)', (column) => column.notNull())
      .addColumn('from_value', long_text)
      .addColumn('to_value', long_text)
      .addColumn('comment', long_text)
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await index(db, dialect, 'faultboard_activities', ['error_id'])

    await tableWithId(db, dialect, 'faultboard_saved_views')
      .addColumn('name', 'varchar(255)', (column) => column.notNull().unique())
      .addColumn('query', long_text, (column) => column.notNull())
      .addColumn('created_by', 'varchar(255)', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
  },
}
