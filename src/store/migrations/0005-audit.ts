import { type CreatedColumn, createTable, type Migration } from './table.js'

const text = (length: number): CreatedColumn => ({ type: `varchar(${length})` })
const optionalText = (length: number): CreatedColumn => ({ ...text(length), isNullable: true })

/** Adds the log of changes. The error has no foreign key, because an entry outlives its error. */
export const audit: Migration = {
  up: (db, dialect) =>
    createTable(db, dialect, 'faultboard_audit_entries', {
      columns: {
        id: { type: 'id' },
        created_at: { type: 'bigint' },
        actor: text(255),
        kind: text(16),
        address: optionalText(64),
        action: text(32),
        error_id: { type: 'bigint', isNullable: true },
        target: optionalText(255),
        count: { type: 'bigint', isNullable: true },
        detail: optionalText(500),
      },
      indexes: [{ columns: ['created_at', 'id'] }, { columns: ['actor', 'created_at'] }, { columns: ['error_id'] }],
    }),
}
