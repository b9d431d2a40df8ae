import { sql } from '../kysely.js'
import type { Capabilities } from './capabilities.js'

export const postgresCapabilities: Capabilities = {
  hasRowLocks: true,
  locksIndexEntries: false,
  hasPartialIndexes: true,
  hasCoveringIndexes: false,
  skipsUnchangedIndexes: false,
  hasReturning: true,
  usesRangesInSubqueries: true,
  usesIndexForRowComparison: true,
  snapshotIsolation: 'repeatable read',
  primaryKeyHint: null,
  identifierQuote: '"',
  clusteredTableOptions: null,
  sortFence: { apply: (query) => query.offset(sql.lit(0)), isNeededForIndexes: false, keepsOrder: false },
  // As text, because the host may have changed how its driver parses JSON.
  packRows: (columns) => sql`json_agg(json_build_array(${columns}))::text`,
  byteOrder: (text) => sql<string>`${text} collate "C"`,
  // U+10FFFF sorts after every other character. `like` takes twice as long.
  startsWith: (text, start) => sql<boolean>`(${text} >= ${start} and ${text} < ${`${start}\u{10FFFF}`})`,
  lookupExists: (lookup) => sql<boolean>`exists (${lookup})`,
  withoutIndex: (column) => sql`${column}`,
  withoutIndexOrder: (column) => sql`${column}`,
  async currentSchema(db) {
    const { rows } = await sql<{ schema: string | null }>`select current_schema() as schema`.execute(db)
    return rows[0]?.schema ?? 'public'
  },
  findTable: (table) => sql`select 1 from pg_tables where schemaname = current_schema() and tablename = ${table}`,
  findColumn: (table, column) =>
    sql`select 1 from information_schema.columns
      where table_schema = current_schema() and table_name = ${table} and column_name = ${column}`,
  async createIndexIfMissing(db, { kind, definition }) {
    await sql.raw(`create ${kind} if not exists ${definition}`).execute(db)
  },
  async dropIndexIfExists(db, _table, index) {
    await sql`drop index if exists ${sql.ref(index)}`.execute(db)
  },
  // Introspection would include tables of other schemas.
  async addColumnIfMissing(db, table, column, type) {
    const definition = typeof type === 'string' ? sql.raw(type) : type
    await sql`alter table ${sql.table(table)} add column if not exists ${sql.ref(column)} ${definition}`.execute(db)
  },
  async resetSequence(db, table) {
    await sql`select setval(pg_get_serial_sequence(${table}, 'id'),
      coalesce((select max(id) from ${sql.table(table)}), 1),
      exists (select 1 from ${sql.table(table)}))`.execute(db)
  },
}
