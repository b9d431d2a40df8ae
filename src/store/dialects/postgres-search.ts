import type { TextSearch } from '../dialect.js'
import { sql } from '../kysely.js'

const TABLES = { first: 'faultboard_error_search', history: 'faultboard_search_history' }
const INDEX = 'faultboard_error_search_trigrams'
/** Limits the pending list in kilobytes, because every search reads the whole list. */
const PENDING_LIST_KB = 1024

/** Trigram index of the extension pg_trgm. PostgreSQL uses it automatically for `like`. */
export const postgresSearch: TextSearch = {
  async build(db, table) {
    await sql`savepoint faultboard_search`.execute(db)
    try {
      await sql`create extension if not exists pg_trgm`.execute(db)
      const { rows } = await sql<{ schema: string }>`
        select nspname as schema from pg_extension join pg_namespace on pg_namespace.oid = extnamespace
        where extname = 'pg_trgm'`.execute(db)
      // The extension may exist in a schema outside the search path.
      const operators = sql.id(rows[0]?.schema ?? 'public', 'gin_trgm_ops')
      await sql`create index if not exists ${sql.id(`${TABLES[table]}_trigrams`)} on ${sql.table(TABLES[table])}
        using gin (search_text ${operators}) with (gin_pending_list_limit = ${sql.lit(PENDING_LIST_KB)})`.execute(db)
    } catch {
      // The extension is not available or the user may not create it. The search reads every row instead.
      await sql`rollback to savepoint faultboard_search`.execute(db)
    }
    await sql`release savepoint faultboard_search`.execute(db)
  },

  async hasIndex(db) {
    const { rows } = await sql`select 1 from pg_class where oid = to_regclass(${INDEX})`.execute(db)
    return rows.length > 0
  },

  candidates: () => null,
}
