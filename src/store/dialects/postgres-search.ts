import type { TextSearch } from '../dialect.js'
import { sql } from '../kysely.js'

const TABLES = { first: 'faultboard_error_search', history: 'faultboard_search_history' }
const INDEX = 'faultboard_error_search_trigrams'
/** In kilobytes: what new rows leave to be sorted in later is read by every search until then. */
const PENDING = 1024

/** An index of trigrams by the extension pg_trgm, which PostgreSQL uses for `like` by itself. */
export const postgresSearch: TextSearch = {
  async build(db, table) {
    await sql`savepoint faultboard_search`.execute(db)
    try {
      await sql`create extension if not exists pg_trgm`.execute(db)
      const { rows } = await sql<{ schema: string }>`
        select nspname as schema from pg_extension join pg_namespace on pg_namespace.oid = extnamespace
        where extname = 'pg_trgm'`.execute(db)
      // The extension may have been there, in a schema where unqualified names are not looked for.
      const operators = sql.id(rows[0]?.schema ?? 'public', 'gin_trgm_ops')
      await sql`create index if not exists ${sql.id(`${TABLES[table]}_trigrams`)} on ${sql.table(TABLES[table])}
        using gin (search_text ${operators}) with (gin_pending_list_limit = ${sql.lit(PENDING)})`.execute(db)
    } catch {
      // This user may not add extensions, or the server has not got this one: `search` reads every text instead.
      await sql`rollback to savepoint faultboard_search`.execute(db)
    }
    await sql`release savepoint faultboard_search`.execute(db)
  },

  async isBuilt(db) {
    const { rows } = await sql`select 1 from pg_class where oid = to_regclass(${INDEX})`.execute(db)
    return rows.length > 0
  },

  candidates: () => null,
}
