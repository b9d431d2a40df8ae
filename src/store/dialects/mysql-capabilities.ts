import { sql } from '../kysely.js'
import { addColumnUnlessListed } from './add-column.js'
import type { Capabilities } from './capabilities.js'

export const mysqlCapabilities: Capabilities = {
  hasRowLocks: true,
  locksIndexEntries: true,
  hasPartialIndexes: false,
  hasCoveringIndexes: false,
  skipsUnchangedIndexes: true,
  hasReturning: false,
  usesRangesInSubqueries: false,
  usesIndexForRowComparison: false,
  snapshotIsolation: 'repeatable read',
  // Without the hint, MySQL scans a small table and waits for rows that another flush has locked.
  primaryKeyHint: sql`force index (primary)`,
  identifierQuote: '`',
  clusteredTableOptions: null,
  sortFence: null,
  // MariaDB truncates such a text at `group_concat_max_len`.
  packRows: null,
  byteOrder: (text) => sql<string>`${text}`,
  startsWith: (text, start) => sql<boolean>`${text} like ${`${start.replace(/[!%_]/g, '!$&')}%`} escape '!'`,
  lookupExists: (lookup) => sql<boolean>`(${lookup}) is not null`,
  withoutIndex: (column) => sql`${column}`,
  // MySQL prefers an index in order, although it looks up each row to test further conditions.
  withoutIndexOrder: (column) => sql`coalesce(${column})`,
  currentSchema: async () => undefined,
  findTable: (table) =>
    sql`select 1 from information_schema.tables where table_schema = database() and table_name = ${table}`,
  findColumn: (table, column) =>
    sql`select 1 from information_schema.columns
      where table_schema = database() and table_name = ${table} and column_name = ${column}`,
  // MySQL has no `if exists` and `if not exists` for indexes.
  async createIndexIfMissing(db, { kind, definition }) {
    try {
      await sql.raw(`create ${kind} ${definition}`).execute(db)
    } catch (error) {
      if ((error as { code?: string }).code !== 'ER_DUP_KEYNAME') throw error
    }
  },
  async dropIndexIfExists(db, table, index) {
    try {
      await sql`drop index ${sql.ref(index)} on ${sql.table(table)}`.execute(db)
    } catch (error) {
      if ((error as { code?: string }).code !== 'ER_CANT_DROP_FIELD_OR_KEY') throw error
    }
  },
  addColumnIfMissing: addColumnUnlessListed,
}
