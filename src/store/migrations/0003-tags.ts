import { type CreatedColumn, createTable, type Migration } from './table.js'

const text = (length: number): CreatedColumn => ({ type: `varchar(${length})`, isByteOrdered: true })

/** Adds the tags of errors. Errors that exist already get theirs with their next occurrence. */
export const tags: Migration = {
  up: (db, dialect) =>
    createTable(db, dialect, 'faultboard_error_tags', {
      columns: { error_id: { type: 'bigint' }, tag_key: text(64), tag_value: text(200) },
      key: { columns: ['error_id', 'tag_key', 'tag_value'] },
      isClustered: true,
      indexes: [{ columns: ['tag_key', 'tag_value', 'error_id'] }],
    }),
}
