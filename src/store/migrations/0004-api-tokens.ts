import { type CreatedColumn, createTable, type Migration } from './table.js'

const text = (length: number): CreatedColumn => ({ type: `varchar(${length})` })
const time: CreatedColumn = { type: 'bigint' }
const optionalTime: CreatedColumn = { ...time, isNullable: true }

/** Adds API tokens. */
export const apiTokens: Migration = {
  up: (db, dialect) =>
    createTable(db, dialect, 'faultboard_api_tokens', {
      columns: {
        id: { type: 'id' },
        name: { ...text(255), isUnique: true },
        role: text(16),
        token_hash: { ...text(80), isUnique: true },
        created_at: time,
        created_by: text(255),
        expires_at: optionalTime,
        last_used_at: optionalTime,
        revoked_at: optionalTime,
      },
    }),
}
