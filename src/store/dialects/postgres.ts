import { cachePerTarget, conflictClause, insertClause, returningClause, type SqlSyntax } from '../bulk/bulk-sql.js'
import type { DatabaseTarget, PostgresPoolTarget } from '../database-target.js'
import type { BulkInsert, BulkRow, BulkTarget, Dialect, ErrorClass } from '../dialect.js'
import {
  CompiledQuery,
  type Kysely,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type UnknownRow,
} from '../kysely.js'
import { loadDriver } from '../load-driver.js'
import type { Schema } from '../schema.js'
import type { QueryTimeout } from '../sql/query-timeout.js'
import { GuardedPool, openOnce, type PoolFactory } from './guarded-pool.js'
import { runOwnQuery } from './own-queries.js'
import { postgresCapabilities } from './postgres-capabilities.js'
import { postgresSearch } from './postgres-search.js'

/** Members of the pg client that the types of Kysely do not include. */
interface PgClient extends PostgresPoolClient {
  on(event: 'error', listener: () => void): unknown
  off(event: 'error', listener: () => void): unknown
  connect(): Promise<unknown>
  end(): Promise<void>
  connection?: { stream?: { destroy(): void } }
}

interface PgPool extends PostgresPool, PostgresPoolTarget {
  connect(): Promise<PgClient>
  on(event: 'error', listener: () => void): unknown
  on(event: 'connect' | 'remove', listener: (client: PgClient) => void): unknown
  readonly idleCount?: number
  /** Missing in pools of other packages. */
  readonly Client?: new (
    options: object,
  ) => PgClient
}

interface PgModule {
  Pool: new (options: object) => PgPool
}

/** Shorter than five seconds, so that a probe that started just before a recovery ends in time for the import. */
const CONNECT_TIMEOUT_MS = 4000
/** Share of the query timeout after which the server gives up on a lock. */
const LOCK_SHARE = 0.8

/** Creates a pool of the tracker. Opens it on first use. */
export function postgresUrl(target: DatabaseTarget, url: string): Dialect {
  let pool: PgPool | undefined
  const clients = new Set<PgClient>()
  const open = openOnce(async () => {
    const { Pool } = await loadDriver<PgModule>('pg', 'PostgreSQL')
    const opened = new Pool({
      connectionString: url,
      max: 4,
      application_name: 'faultboard',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      // Idle connections must not keep the process of the host alive.
      allowExitOnIdle: true,
    })
    // The pool replaces a broken idle connection. Without a listener, the error would crash the host.
    opened.on('error', () => {})
    opened.on('connect', (client) => clients.add(client))
    opened.on('remove', (client) => clients.delete(client))
    pool = opened
    return guardPool(opened)
  })
  const closeConnections = () => {
    for (const client of clients) client.connection?.stream?.destroy()
    return true
  }
  const close = async () => {
    const timer = setTimeout(closeConnections, CONNECT_TIMEOUT_MS)
    await pool?.end()
    clearTimeout(timer)
  }
  return postgresDialect(target, { openPool: open, opened: () => pool ?? null, closeConnections, close })
}

/** Uses the pool of the host and never closes it. */
export function postgresPool(target: DatabaseTarget, hostPool: object): Dialect {
  const pool = hostPool as PgPool
  return postgresDialect(target, {
    openPool: openOnce(async () => guardPool(pool)),
    opened: () => pool,
    closeConnections: () => false,
    async close() {},
  })
}

/** Needed because the error event of a connection without a listener crashes the host. */
const ignoreError = () => {}

function guardPool(pool: PgPool): PoolFactory<PostgresPool> {
  const { Client, options = {} } = pool
  const guarded = new GuardedPool<PgClient>({
    async acquire() {
      const client = await pool.connect()
      client.on('error', ignoreError)
      return client
    },
    release(client) {
      client.off('error', ignoreError)
      client.release()
    },
    destroy: (client) => client.connection?.stream?.destroy(),
    ping: (client) => runOwnQuery(() => client.query('select 1', [])),
    idleCount: () => pool.idleCount ?? 0,
    openUnpooled: Client ? (onOpening) => openUnpooled(new Client(options), onOpening) : () => null,
    closeUnpooled: (client) => void client.end().catch(ignoreError),
  })
  return (timeout) => ({
    async connect() {
      const { connection, query, release } = await guarded.acquire(timeout)
      // Kysely receives a wrapper that marks its queries as queries of the tracker.
      const send = (text: string, values: readonly unknown[]) =>
        query(() => runOwnQuery(() => connection.query(withLockTimeout(text, timeout), values)))
      return { query: send as PgClient['query'], release }
    },
    async end() {},
  })
}

async function openUnpooled(client: PgClient, onOpening: (client: PgClient) => void): Promise<PgClient> {
  onOpening(client)
  client.on('error', ignoreError)
  await client.connect()
  return client
}

/**
 * Makes the server give up on a lock before the client gives up on the server. Otherwise, the abandoned session would
 * keep waiting for the lock and occupy a server connection.
 */
function withLockTimeout(text: string, timeout: QueryTimeout | null): string {
  if (!timeout || !text.startsWith('start transaction')) return text
  return `${text}; set local lock_timeout = ${Math.round(timeout.ms * LOCK_SHARE)}`
}

interface PostgresParts {
  openPool(): Promise<PoolFactory<PostgresPool>>
  opened(): object | null
  closeConnections(): boolean
  close(): Promise<void>
}

function postgresDialect(
  target: DatabaseTarget,
  { openPool, opened, closeConnections, close }: PostgresParts,
): Dialect {
  const kyselyFor = (timeout: QueryTimeout | null) =>
    new PostgresDialect({ pool: async () => (await openPool())(timeout) })
  return {
    ...target,
    ...postgresCapabilities,
    kysely: kyselyFor(null),
    kyselyWithTimeout: kyselyFor,
    columns: { id: 'bigserial primary key', longText: 'text', byteOrder: 'collate "C"' },
    tableOptions: null,
    // With a stricter default level, concurrent writes to one group would fail repeatedly. Ordered row locks suffice.
    isolation: 'read committed',
    search: postgresSearch,
    blocksHost: false,
    insertMany,
    insertTogether,
    classifyError,
    isOutage,
    pool: opened,
    closeConnections,
    close,
  }
}

const SYNTAX: SqlSyntax = {
  quote: '"',
  incoming: (column) => `excluded."${column}"`,
  greatest: 'greatest',
  least: 'least',
}

const TYPES = { integer: 'bigint', text: 'text', fraction: 'double precision' } as const

const insertSql = cachePerTarget((target) => {
  const record = target.columns.map(({ type }, i) => `${alias(i)} ${TYPES[type]}`).join(', ')
  const source = `select * from json_to_recordset($1::json) as rows(${record})`
  return `${insertClause(target, SYNTAX)} ${source}${conflictClause(target, SYNTAX)}${returningClause(target)}`
})

/** Passes all rows as one JSON parameter, so that the SQL text does not depend on the number of rows. */
async function insertMany(db: Kysely<Schema>, target: BulkTarget, rows: readonly BulkRow[]): Promise<UnknownRow[]> {
  const query = CompiledQuery.raw(insertSql(target), [serializeRows(rows)])
  return (await db.executeQuery<UnknownRow>(query)).rows
}

/**
 * Uses data-modifying `with` queries. PostgreSQL runs the main query first and then the `with` queries from last to
 * first, so they are listed in reverse order. Every process must lock shared rows in the same order.
 */
async function insertTogether(db: Kysely<Schema>, inserts: readonly BulkInsert[]): Promise<void> {
  const statements = inserts.map(([target], i) => insertSql(target).replace('$1::json', `$${i + 1}::json`))
  const [main, ...others] = statements
  const queries = others.map((statement, i) => `insert${i} as (${statement})`).reverse()
  const withClause = queries.length > 0 ? `with ${queries.join(', ')} ` : ''
  await db.executeQuery(
    CompiledQuery.raw(
      `${withClause}${main}`,
      inserts.map(([, rows]) => serializeRows(rows)),
    ),
  )
}

/** Builds JSON with short column aliases. Objects with full column names take much longer and produce more text. */
function serializeRows(rows: readonly BulkRow[]): string {
  let text = ''
  for (const row of rows) {
    let record = ''
    for (let i = 0; i < row.length; i++) {
      const value = row[i]
      if (value === null || value === undefined) continue
      record += `${record === '' ? '' : ','}"${alias(i)}":${typeof value === 'number' ? value : JSON.stringify(value)}`
    }
    text += `${text === '' ? '' : ','}{${record}}`
  }
  return `[${text}]`
}

function alias(column: number): string {
  return `c${column}`
}

function errorCode(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
}

/**
 * Classes 08 (connection), 28 (authentication failed), 53 (out of resources), 57P (shutdown) and 58 (system error). Codes:
 * unknown database, read-only after a failover, conflict, locked, canceled by a timeout, damaged.
 */
const OUTAGES = /^((08|28|53|58)[0-9A-Z]{3}|57P\d\d|3D000|25006|40001|40P01|55P03|57014|XX00[12])$/

function isOutage(error: unknown): boolean {
  return OUTAGES.test(errorCode(error))
}

function classifyError(error: unknown): ErrorClass {
  const code = errorCode(error)
  // serialization_failure, deadlock_detected, lock_not_available
  if (['40001', '40P01', '55P03'].includes(code)) return 'conflict'
  // Invalid data, violated constraints and size limits. All other codes concern the server, authentication or the schema
  // and are temporary.
  if (/^(21|22|23|44|54|P0)[0-9A-Z]{3}$/.test(code)) return 'statement'
  return 'unavailable'
}
