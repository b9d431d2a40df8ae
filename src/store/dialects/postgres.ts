import { CompiledQuery, type Kysely, PostgresDialect, type PostgresPool } from 'kysely'
import { conflictClause, insertHead, type Spelling } from '../bulk-sql.js'
import type { BulkInsert, Dialect, Fault } from '../dialect.js'
import { loadDriver, maskedAddress } from '../driver.js'
import type { Schema } from '../schema.js'

interface PgModule {
  Pool: new (options: object) => PostgresPool & { on(event: 'error', listener: (error: Error) => void): unknown }
}

/** A pool of ours, opened when it is first used. */
export function postgresUrl(url: string): Dialect {
  let pool: PostgresPool | undefined
  const open = async () => {
    const { Pool } = await loadDriver<PgModule>('pg', 'PostgreSQL')
    const opened = new Pool({
      connectionString: url,
      max: 4,
      application_name: 'faultboard',
      connectionTimeoutMillis: 5000,
      // The host's process must be able to end while our connections are idle.
      allowExitOnIdle: true,
    })
    // An idle connection that breaks is replaced by the pool; without a listener it would bring the host down.
    opened.on('error', () => {})
    pool = opened
    return opened
  }
  return postgresDialect({ pool: open, address: maskedAddress(url), close: async () => pool?.end() })
}

/** The host's own pool, which stays the host's to close. */
export function postgresPool(pool: PostgresPool): Dialect {
  const lent: PostgresPool = { connect: () => pool.connect(), end: async () => {} }
  return postgresDialect({ pool: lent, address: "postgres (the host's pool)", close: async () => {} })
}

export function isPostgresPool(value: object): value is PostgresPool {
  return 'connect' in value && typeof value.connect === 'function' && 'totalCount' in value
}

interface PostgresParts {
  pool: PostgresPool | (() => Promise<PostgresPool>)
  address: string
  close(): Promise<void>
}

function postgresDialect({ pool, address, close }: PostgresParts): Dialect {
  return {
    name: 'postgres',
    address,
    migrates_itself: false,
    flush_limit: 1000,
    kysely: new PostgresDialect({ pool }),
    columns: { id: 'bigserial', identity: (column) => column.primaryKey(), long_text: 'text' },
    table_options: null,
    isolation: null,
    insertMany,
    faultOf,
    close,
  }
}

const SPELLING: Spelling = {
  quote: '"',
  incoming: (column) => `excluded."${column}"`,
  greatest: 'greatest',
  least: 'least',
}

/** All rows as one JSON parameter: the statement's text stays the same for any number of rows. */
async function insertMany(db: Kysely<Schema>, insert: BulkInsert): Promise<number> {
  const names = insert.columns.map(({ name }) => name)
  const record = insert.columns
    .map(({ name, type }) => `"${name}" ${type === 'integer' ? 'bigint' : 'text'}`)
    .join(', ')
  const source = `select * from json_to_recordset($1::json) as rows(${record})`
  const rows = insert.rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]])))
  const query = CompiledQuery.raw(`${insertHead(insert, SPELLING)} ${source}${conflictClause(insert, SPELLING)}`, [
    JSON.stringify(rows),
  ])
  return Number((await db.executeQuery(query)).numAffectedRows ?? 0)
}

function faultOf(error: unknown): Fault {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  // serialization_failure, deadlock_detected, lock_not_available
  if (['40001', '40P01', '55P03'].includes(code)) return 'conflict'
  // A five-character code is the server's verdict on the statement, except for trouble with the server, the sign-in,
  // the database's name, or a table that is not there (yet).
  if (/^[0-9A-Z]{5}$/.test(code) && !/^(08|28|3D|53|57|58|42P01|42703)/.test(code)) return 'statement'
  return 'unavailable'
}
