export type Query = (statement: string) => Promise<Record<string, unknown>[]>

/**
 * Empties a used database, which is much faster than creating a database. Returns false if the result would differ from a new
 * database: open connections remain, or schema, settings or rows written by migrations have changed.
 */
export interface Renewal {
  /** State of an unused database for the comparison in `renew`. */
  pristine(query: Query): Promise<Pristine>
  renew(query: Query, pristine: Pristine): Promise<boolean>
}

export interface Pristine {
  /** Tables with rows written by migrations. */
  seeded: string[]
  fingerprint: string
}

/** Compares the newest change of a column instead of all columns, because reading the columns takes longer. */
const POSTGRES_SCHEMA = `
  SELECT concat_ws(' ', relname, relkind, relacl) AS part FROM pg_class WHERE relnamespace = 'public'::regnamespace
  UNION ALL SELECT concat_ws(' ', count(*), max(xmin::text::bigint)) FROM pg_attribute WHERE attrelid >= 16384
  UNION ALL SELECT conname FROM pg_constraint WHERE connamespace = 'public'::regnamespace
  UNION ALL SELECT tgname FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT rulename FROM pg_rewrite WHERE oid >= 16384
  UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  UNION ALL SELECT concat_ws(' ', nspname, nspacl) FROM pg_namespace
  UNION ALL SELECT concat_ws(' ', datacl, datconnlimit, datallowconn) FROM pg_database
    WHERE datname = current_database()
  UNION ALL SELECT setconfig::text FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
    WHERE d.datname = current_database()`

/** Truncating a table takes longer than deleting the rows of a few pages, because it creates new files. */
const MAX_DELETED_BYTES = 65_536

export const postgresRenewal: Renewal = {
  async pristine(query) {
    const seeded = (await usedPostgresTables(query)).map(({ name }) => name)
    return { seeded, fingerprint: await postgresFingerprint(query, seeded) }
  },
  async renew(query, { seeded, fingerprint }) {
    const listOtherConnections = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
    if (!(await waitUntilUnused(() => query(listOtherConnections)))) return false
    if ((await postgresFingerprint(query, seeded)) !== fingerprint) return false
    const statements = (await usedPostgresTables(query))
      .filter(({ name }) => !seeded.includes(name))
      .map(({ name, bytes }) => `${bytes > MAX_DELETED_BYTES ? 'TRUNCATE' : 'DELETE FROM'} ${name};`)
    await query(`${statements.join('')}
      SELECT setval(quote_ident(sequencename)::regclass, start_value, false) FROM pg_sequences
      WHERE schemaname = 'public' AND last_value IS NOT NULL`)
    return true
  },
}

const MYSQL_SCHEMA = `
  SELECT CONCAT_WS(' ', table_name, column_name, column_type, is_nullable, column_default, extra, collation_name) AS part
    FROM information_schema.columns WHERE table_schema = DATABASE()
  UNION ALL SELECT CONCAT_WS(' ', table_name, index_name, seq_in_index, column_name, non_unique)
    FROM information_schema.statistics WHERE table_schema = DATABASE()
  UNION ALL SELECT trigger_name FROM information_schema.triggers WHERE trigger_schema = DATABASE()
  UNION ALL SELECT CONCAT_WS(' ', default_character_set_name, default_collation_name)
    FROM information_schema.schemata WHERE schema_name = DATABASE()`

export const mysqlRenewal: Renewal = {
  async pristine(query) {
    const seeded = (await usedMysqlTables(query)).map(({ name }) => name)
    return { seeded, fingerprint: await mysqlFingerprint(query, seeded) }
  },
  async renew(query, { seeded, fingerprint }) {
    const otherConnections =
      'SELECT 1 FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()'
    if (!(await waitUntilUnused(() => query(otherConnections)))) return false
    if ((await mysqlFingerprint(query, seeded)) !== fingerprint) return false
    await query('SET foreign_key_checks = 0')
    for (const { name, is_numbered } of await usedMysqlTables(query)) {
      if (seeded.includes(name)) continue
      await query(`DELETE FROM ${name}`)
      if (is_numbered) await query(`ALTER TABLE ${name} AUTO_INCREMENT = 1`)
    }
    return true
  },
}

/** Tables that have pages. Their rows may have been deleted. */
async function usedPostgresTables(query: Query): Promise<{ name: string; bytes: number }[]> {
  const tables = await query(`SELECT relname AS name, pg_relation_size(oid) AS bytes FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 0 ORDER BY 1`)
  return tables.map(({ name, bytes }) => ({ name: String(name), bytes: Number(bytes) }))
}

/** Hashed by the server, because reading a thousand rows takes longer. */
async function postgresFingerprint(query: Query, seeded: readonly string[]): Promise<string> {
  const parts = [POSTGRES_SCHEMA, ...seeded.map((name) => `SELECT t::text FROM ${name} t`)]
  const [row] = await query(
    `SELECT md5(string_agg(part, ';' ORDER BY part)) AS hash FROM (${parts.join(' UNION ALL ')}) s`,
  )
  return String(row?.hash)
}

/** Tables with rows or an advanced auto-increment counter. */
async function usedMysqlTables(query: Query): Promise<{ name: string; is_numbered: boolean }[]> {
  const tables = await query(
    'SELECT table_name AS name, auto_increment AS next FROM information_schema.tables WHERE table_schema = DATABASE()',
  )
  const rows = tables.map(({ name }) => `SELECT '${name}' AS name FROM DUAL WHERE EXISTS (SELECT 1 FROM ${name})`)
  const usedTables = rows.length === 0 ? [] : await query(rows.join(' UNION ALL '))
  return tables
    .filter(({ name, next }) => Number(next) > 1 || usedTables.some((table) => table.name === name))
    .map(({ name, next }) => ({ name: String(name), is_numbered: next !== null }))
}

/** Summed by the server, because reading a thousand rows takes longer. */
async function mysqlFingerprint(query: Query, seeded: readonly string[]): Promise<string> {
  const sums = seeded.length > 0 ? await query(`CHECKSUM TABLE ${seeded.join()}`) : []
  const schema = await query(`SELECT COUNT(*) AS parts, SUM(CRC32(part)) AS sum FROM (${MYSQL_SCHEMA}) s`)
  return JSON.stringify([schema, sums.map(({ Checksum }) => Checksum)])
}

/** Waits, because the server lists closed connections for a moment. */
async function waitUntilUnused(listConnections: () => Promise<unknown[]>): Promise<boolean> {
  for (let attempt = 0; attempt < 5; attempt++) {
    if ((await listConnections()).length === 0) return true
    await new Promise((resume) => setTimeout(resume, 20))
  }
  return false
}
