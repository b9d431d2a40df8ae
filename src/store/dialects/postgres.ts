import { conflictClause, insertHead, oncePerTarget, returningClause, type Spelling } from '../bulk-sql.js'
import type { BulkRow, BulkTarget, Dialect, Fault } from '../dialect.js'
import { loadDriver, maskedAddress } from '../driver.js'
import {
  CompiledQuery,
  type Kysely,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type UnknownRow,
} from '../kysely.js'
import type { QueryTimeout } from '../query-timeout.js'
import type { Schema } from '../schema.js'
import { GuardedPool, type Lender, openedOnce } from './guarded-pool.js'
import { runOwnQuery } from './own-queries.js'
import { postgresCapabilities } from './postgres-capabilities.js'
import { postgresSearch } from './postgres-search.js'

/** The part of pg's client and pool that Kysely does not know. */
interface PgClient extends PostgresPoolClient {
  on(event: 'error', listener: () => void): unknown
  off(event: 'error', listener: () => void): unknown
  connect(): Promise<unknown>
  end(): Promise<void>
  connection?: { stream?: { destroy(): void } }
}

interface PgPool extends PostgresPool {
  connect(): Promise<PgClient>
  on(event: 'error', listener: () => void): unknown
  on(event: 'connect' | 'remove', listener: (client: PgClient) => void): unknown
  readonly idleCount?: number
  /** Absent from pools of other packages. */
  readonly Client?: new (
    options: object,
  ) => PgClient
  readonly options?: { connectionString?: string; host?: string; port?: number; database?: string }
}

interface PgModule {
  Pool: new (options: object) => PgPool
}

/** A probe that started just before the database recovered must end soon enough to import within five seconds. */
const CONNECT_MS = 4000
/** Share of the timeout that may be spent on one lock. */
const LOCK_SHARE = 0.8

/** A pool of ours, opened when it is first used. */
export function postgresUrl(url: string): Dialect {
  let pool: PgPool | undefined
  const clients = new Set<PgClient>()
  const open = openedOnce(async () => {
    const { Pool } = await loadDriver<PgModule>('pg', 'PostgreSQL')
    const opened = new Pool({
      connectionString: url,
      max: 4,
      application_name: 'faultboard',
      connectionTimeoutMillis: CONNECT_MS,
      // The host's process must be able to end while our connections are idle.
      allowExitOnIdle: true,
    })
    // An idle connection that breaks is replaced by the pool; without a listener it would bring the host down.
    opened.on('error', () => {})
    opened.on('connect', (client) => clients.add(client))
    opened.on('remove', (client) => clients.delete(client))
    pool = opened
    return lender(opened)
  })
  const closeConnections = () => {
    for (const client of clients) client.connection?.stream?.destroy()
    return true
  }
  const close = async () => {
    const impatience = setTimeout(closeConnections, CONNECT_MS)
    await pool?.end()
    clearTimeout(impatience)
  }
  return postgresDialect({
    lender: open,
    opened: () => pool ?? null,
    address: maskedAddress(url),
    closeConnections,
    close,
  })
}

/** The host's own pool, which stays the host's to close. */
export function postgresPool(pool: PgPool): Dialect {
  return postgresDialect({
    lender: openedOnce(async () => lender(pool)),
    opened: () => pool,
    address: `${addressOf(pool)} (the host's pool)`,
    closeConnections: () => false,
    async close() {},
  })
}

/** Without a listener, an error of a connection in use would end the host's process. */
const ignoreError = () => {}

function lender(pool: PgPool): Lender<PostgresPool> {
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
    openOutside: Client ? (onOpening) => openOutside(new Client(options), onOpening) : () => null,
    closeOutside: (client) => void client.end().catch(ignoreError),
  })
  return (timeout) => ({
    async connect() {
      const { connection, query, release } = await guarded.lend(timeout)
      // Kysely receives no client of the host: its queries are marked as ours.
      const send = (text: string, values: readonly unknown[]) =>
        query(() => runOwnQuery(() => connection.query(withLockTimeout(text, timeout), values)))
      return { query: send as PgClient['query'], release }
    },
    async end() {},
  })
}

async function openOutside(client: PgClient, onOpening: (client: PgClient) => void): Promise<PgClient> {
  onOpening(client)
  client.on('error', ignoreError)
  await client.connect()
  return client
}

/**
 * Lets the server give up on a lock before the client gives up on the server. A session whose client has gone would wait
 * for the lock and occupy a connection of the server.
 */
function withLockTimeout(text: string, timeout: QueryTimeout | null): string {
  if (!timeout || !text.startsWith('start transaction')) return text
  return `${text}; set local lock_timeout = ${Math.round(timeout.ms * LOCK_SHARE)}`
}

/** Which database it is: trackers of different databases must not share a spool folder. */
function addressOf({ options }: PgPool): string {
  if (options?.connectionString) return maskedAddress(options.connectionString)
  return `postgres://${options?.host ?? 'localhost'}:${options?.port ?? 5432}/${options?.database ?? ''}`
}

export function isPostgresPool(value: object): value is PgPool {
  return 'connect' in value && typeof value.connect === 'function' && 'totalCount' in value
}

interface PostgresParts {
  lender(): Promise<Lender<PostgresPool>>
  opened(): object | null
  address: string
  closeConnections(): boolean
  close(): Promise<void>
}

function postgresDialect({ lender, opened, address, closeConnections, close }: PostgresParts): Dialect {
  const kyselyFor = (timeout: QueryTimeout | null) =>
    new PostgresDialect({ pool: async () => (await lender())(timeout) })
  return {
    ...postgresCapabilities,
    name: 'postgres',
    address,
    migrates_itself: false,
    maxRowsPerFlush: 1000,
    kysely: kyselyFor(null),
    patientKysely: kyselyFor,
    columns: { id: 'bigserial', identity: (column) => column.primaryKey(), long_text: 'text' },
    table_options: null,
    // A default of repeatable read or serializable would let concurrent writes to one group fail again and again. Row
    // locks, taken in one order, suffice.
    isolation: 'read committed',
    search: postgresSearch,
    blocks_host: false,
    insertMany,
    faultOf,
    isOutage,
    pool: opened,
    closeConnections,
    close,
  }
}

const SPELLING: Spelling = {
  quote: '"',
  incoming: (column) => `excluded."${column}"`,
  greatest: 'greatest',
  least: 'least',
}

const TYPES = { integer: 'bigint', text: 'text', fraction: 'double precision' } as const

const insertSql = oncePerTarget((target) => {
  const record = target.columns.map(({ type }, i) => `${alias(i)} ${TYPES[type]}`).join(', ')
  const source = `select * from json_to_recordset($1::json) as rows(${record})`
  return `${insertHead(target, SPELLING)} ${source}${conflictClause(target, SPELLING)}${returningClause(target)}`
})

/** All rows as one JSON parameter: the statement's text stays the same for any number of rows. */
async function insertMany(db: Kysely<Schema>, target: BulkTarget, rows: readonly BulkRow[]): Promise<UnknownRow[]> {
  const query = CompiledQuery.raw(insertSql(target), [recordsText(rows)])
  return (await db.executeQuery<UnknownRow>(query)).rows
}

/** Written by hand, because an object per row with its full column names is most of the work and of the text. */
function recordsText(rows: readonly BulkRow[]): string {
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

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
}

/**
 * Classes 08 (connection), 28 (sign-in refused), 53 (out of resources), 57P (shutdown) and 58 (system error). Codes: no
 * such database, read-only after a failover, conflicts, locked, canceled by a timeout, damaged.
 */
const OUTAGES = /^((08|28|53|58)[0-9A-Z]{3}|57P\d\d|3D000|25006|40001|40P01|55P03|57014|XX00[12])$/

function isOutage(error: unknown): boolean {
  return OUTAGES.test(codeOf(error))
}

function faultOf(error: unknown): Fault {
  const code = codeOf(error)
  // serialization_failure, deadlock_detected, lock_not_available
  if (['40001', '40P01', '55P03'].includes(code)) return 'conflict'
  // Wrong data, violated constraints, limits of size: the server's verdict on what was to be written. Any other code is
  // trouble with the server, the sign-in or the schema, which hits every statement alike and passes.
  if (/^(21|22|23|44|54|P0)[0-9A-Z]{3}$/.test(code)) return 'statement'
  return 'unavailable'
}
