import { createHash } from 'node:crypto'

export type Query = (statement: string) => Promise<Record<string, unknown>[]>

/**
 * Empties a used database, which is much faster than creating a database. Returns false if the result would differ from a new
 * database: open connections remain, or schema, settings or rows written by migrations have changed.
 */
export interface Renewal {
  /** State of an unused database for the comparison in `reset`. */
  pristine(query: Query): Promise<Pristine>
  renew(query: Query, pristine: Pristine): Promise<boolean>
}

export interface Pristine {
  /** Tables with rows written by migrations. */
  seeded: string[]
  fingerprint: string
}

const POSTGRES_SCHEMA = `
  SELECT concat_ws(' ', c.relname, c.relkind, c.relacl, a.attname, a.atttypid, a.atttypmod, a.attnotnull) AS part
    FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
    WHERE c.relnamespace = 'public'::regnamespace
  UNION ALL SELECT conname FROM pg_constraint WHERE connamespace = 'public'::regnamespace
  UNION ALL SELECT tgname FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT rulename FROM pg_rules WHERE schemaname = 'public'
  UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  UNION ALL SELECT concat_ws(' ', nspname, nspacl) FROM pg_namespace
  UNION ALL SELECT concat_ws(' ', datacl, datconnlimit, datallowconn) FROM pg_database
    WHERE datname = current_database()
  UNION ALL SELECT setconfig::text FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
    WHERE d.datname = current_database()
  ORDER BY 1`

export const postgresRenewal: Renewal = {
  async pristine(query) {
    const seeded = await usedPostgresTables(query)
    return { seeded, fingerprint: await postgresFingerprint(query, seeded) }
  },
  async renew(query, { seeded, fingerprint }) {
    const listOtherConnections = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
    if (!(await waitUntilUnused(() => query(listOtherConnections)))) return false
    const usedTables = (await usedPostgresTables(query)).filter((table) => !seeded.includes(table))
    if (usedTables.length > 0) await query(`TRUNCATE ${usedTables.join()} RESTART IDENTITY CASCADE`)
    const counted = await query('SELECT sequencename AS name FROM pg_sequences WHERE last_value IS NOT NULL')
    for (const { name } of counted) await query(`ALTER SEQUENCE ${name} RESTART`)
    return (await postgresFingerprint(query, seeded)) === fingerprint
  },
}

const MYSQL_SCHEMA = `
  SELECT CONCAT_WS(' ', table_name, column_name, column_type, is_nullable, column_default, extra, collation_name) AS part
    FROM information_schema.columns WHERE table_schema = DATABASE()
  UNION ALL SELECT CONCAT_WS(' ', table_name, index_name, seq_in_index, column_name, non_unique)
    FROM information_schema.statistics WHERE table_schema = DATABASE()
  UNION ALL SELECT trigger_name FROM information_schema.triggers WHERE trigger_schema = DATABASE()
  UNION ALL SELECT CONCAT_WS(' ', default_character_set_name, default_collation_name)
    FROM information_schema.schemata WHERE schema_name = DATABASE()
  ORDER BY 1`

export const mysqlRenewal: Renewal = {
  async pristine(query) {
    const seeded = (await usedMysqlTables(query)).map(({ name }) => name)
    return { seeded, fingerprint: await mysqlFingerprint(query, seeded) }
  },
  async renew(query, { seeded, fingerprint }) {
    const otherConnections =
      'SELECT 1 FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()'
    if (!(await waitUntilUnused(() => query(otherConnections)))) return false
    await query('SET foreign_key_checks = 0')
    for (const { name, is_numbered } of await usedMysqlTables(query)) {
      if (seeded.includes(name)) continue
      await query(`DELETE FROM ${name}`)
      if (is_numbered) await query(`ALTER TABLE ${name} AUTO_INCREMENT = 1`)
    }
    return (await mysqlFingerprint(query, seeded)) === fingerprint
  },
}

async function usedPostgresTables(query: Query): Promise<string[]> {
  const tables = await query(
    "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
  )
  const usedTables = tables.map(({ name }) => `SELECT '${name}' AS name WHERE EXISTS (SELECT 1 FROM ${name})`)
  return usedTables.length === 0
    ? []
    : (await query(usedTables.join(' UNION ALL '))).map(({ name }) => String(name)).sort()
}

async function postgresFingerprint(query: Query, seeded: readonly string[]): Promise<string> {
  const rows = seeded.map((name) => `SELECT '${name}' AS name, t::text AS part FROM ${name} t`)
  return hashRows([
    ...(await query(POSTGRES_SCHEMA)),
    ...(rows.length > 0 ? await query(`${rows.join(' UNION ALL ')} ORDER BY 1, 2`) : []),
  ])
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

async function mysqlFingerprint(query: Query, seeded: readonly string[]): Promise<string> {
  const sums = seeded.length > 0 ? await query(`CHECKSUM TABLE ${seeded.join()}`) : []
  return hashRows([...(await query(MYSQL_SCHEMA)), ...sums.map(({ Checksum }) => ({ Checksum }))])
}

function hashRows(rows: readonly object[]): string {
  return createHash('sha256')
    .update(JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? `${value}` : value)))
    .digest('hex')
}

/** Waits, because the server lists closed connections for a moment. */
async function waitUntilUnused(listConnections: () => Promise<unknown[]>): Promise<boolean> {
  for (let attempt = 0; attempt < 5; attempt++) {
    if ((await listConnections()).length === 0) return true
    await new Promise((resume) => setTimeout(resume, 20))
  }
  return false
}
