import { sql } from '../kysely.js'
import { addColumnUnlessListed } from './add-column.js'
import type { Capabilities } from './capabilities.js'

export const sqliteCapabilities: Capabilities = {
  hasRowLocks: false,
  locksIndexEntries: false,
  hasPartialIndexes: true,
  hasCoveringIndexes: true,
  skipsUnchangedIndexes: false,
  hasReturning: true,
  usesRangesInSubqueries: true,
  usesIndexForRowComparison: true,
  snapshotIsolation: null,
  primaryKeyHint: null,
  identifierQuote: '"',
  // Avoids storing the key a second time in an index.
  clusteredTableOptions: 'without rowid',
  sortFence: { apply: (query) => query.limit(sql.lit(-1)), isNeededForIndexes: true, keepsOrder: true },
  packRows: (columns) => sql`json_group_array(json_array(${columns}))`,
  byteOrder: (text) => sql<string>`${text}`,
  // U+10FFFF sorts after every other character. `like` ignores letter case, so it would not use an index.
  startsWith: (text, start) => sql<boolean>`(${text} >= ${start} and ${text} < ${`${start}\u{10FFFF}`})`,
  // SQLite does not estimate how many rows match. It would read all rows of an application through the index.
  lookupExists: (lookup) => sql<boolean>`exists (${lookup})`,
  withoutIndex: (column) => sql`+${column}`,
  withoutIndexOrder: (column) => sql`+${column}`,
  currentSchema: async () => undefined,
  findTable: (table) => sql`select 1 from sqlite_master where type = 'table' and name = ${table}`,
  findColumn: (table, column) => sql`select 1 from pragma_table_info(${table}) where name = ${column}`,
  async createIndexIfMissing(db, { kind, definition }) {
    await sql.raw(`create ${kind} if not exists ${definition}`).execute(db)
  },
  async dropIndexIfExists(db, _table, index) {
    await sql`drop index if exists ${sql.ref(index)}`.execute(db)
  },
  addColumnIfMissing: addColumnUnlessListed,
}
