import { assignments, insertHead, oncePerTarget, type Spelling } from '../bulk-sql.js'
import type { BulkRow, BulkTarget, Dialect, Fault, TextSearch } from '../dialect.js'
import { loadDriver, maskedAddress } from '../driver.js'
import { CompiledQuery, type Kysely, MysqlDialect, type MysqlPool, type MysqlPoolConnection, sql } from '../kysely.js'
import type { QueryTimeout } from '../query-timeout.js'
import type { Schema } from '../schema.js'
import { GuardedPool, type Lender, type LentConnection, openedOnce } from './guarded-pool.js'
import { mysqlCapabilities } from './mysql-capabilities.js'
import { runOwnQuery } from './own-queries.js'

interface Connection {
  stream?: { ref?(): void; unref?(): void; destroy(): void }
  on(event: 'end' | 'error', listener: () => void): unknown
}

interface PoolConnection extends Connection, MysqlPoolConnection {
  ping(callback: (error: unknown) => void): void
  connect(callback: (error: unknown) => void): void
  end(callback: () => void): void
}

interface OwnPool extends HostPool {
  on(event: 'connection' | 'acquire' | 'release', listener: (connection: Connection) => void): unknown
}

interface MysqlModule {
  createPool(options: object): OwnPool
  Connection: new (options: { config: unknown }) => PoolConnection
}

/** The host's pool, plain or from mysql2/promise. */
interface HostPool extends MysqlPool {
  config?: { connectionConfig?: { host?: string; port?: number; database?: string } }
  _freeConnections?: { length: number }
}

/** A probe that started just before the database recovered must end soon enough to import within five seconds. */
const CONNECT_MS = 4000

/** A pool of ours, opened when it is first used. */
export function mysqlUrl(url: string): Dialect {
  let pool: OwnPool | undefined
  const connections = new Set<Connection>()
  const open = openedOnce(async () => {
    const { createPool } = await loadDriver<MysqlModule>('mysql2', 'MySQL and MariaDB')
    const opened = createPool({
      uri: url.replace(/^mariadb:/, 'mysql:'),
      connectionLimit: 4,
      connectTimeout: CONNECT_MS,
      charset: 'utf8mb4',
      supportBigNumbers: true,
    })
    // The host's process must be able to end while our connections are idle, but not while one is at work.
    opened.on('connection', (connection) => {
      connection.stream?.unref?.()
      connections.add(connection)
      for (const event of ['end', 'error'] as const) connection.on(event, () => connections.delete(connection))
    })
    opened.on('acquire', (connection) => connection.stream?.ref?.())
    opened.on('release', (connection) => connection.stream?.unref?.())
    pool = opened
    return lender(opened)
  })
  const closeConnections = () => {
    // Not `connection.destroy`, which waits for the server to close its side and leaves the query without an answer.
    for (const connection of connections) connection.stream?.destroy()
    return true
  }
  const close = async () => {
    if (!pool) return
    const impatience = setTimeout(closeConnections, CONNECT_MS)
    await new Promise<void>((done) => pool?.end(() => done()))
    clearTimeout(impatience)
  }
  return mysqlDialect({
    lender: open,
    opened: () => pool ?? null,
    address: maskedAddress(url),
    closeConnections,
    close,
  })
}

/** The host's own pool, which stays the host's to close. */
export function mysqlPool(given: HostPool | { pool: HostPool }): Dialect {
  const pool = 'pool' in given ? given.pool : given
  return mysqlDialect({
    lender: openedOnce(async () => lender(pool)),
    opened: () => pool,
    address: `${addressOf(pool)} (the host's pool)`,
    closeConnections: () => false,
    async close() {},
  })
}

const ignoreError = () => {}

function lender(pool: HostPool): Lender<MysqlPool> {
  const guarded = new GuardedPool<PoolConnection>({
    acquire: () =>
      new Promise((resolve, reject) =>
        runOwnQuery(() =>
          pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection as PoolConnection))),
        ),
      ),
    release: (connection) => connection.release(),
    // Not `connection.destroy`, which waits for the server to close its side and leaves the query without an answer.
    destroy: (connection) => connection.stream?.destroy(),
    ping: (connection) => new Promise((resolve) => connection.ping(resolve)),
    idleCount: () => pool._freeConnections?.length ?? 0,
    openOutside: pool.config?.connectionConfig ? (onOpening) => openOutside(pool, onOpening) : () => null,
    closeOutside: (connection) => connection.end(ignoreError),
  })
  return (timeout) => ({
    getConnection: (callback) =>
      void guarded.lend(timeout).then(
        (lent) => callback(null, asMysqlConnection(lent)),
        (error) => callback(error, undefined as never),
      ),
    end: (callback) => callback(null),
  })
}

/** Kysely receives no connection of the host: its queries are marked as ours. */
function asMysqlConnection({ connection, query, release }: LentConnection<PoolConnection>): MysqlPoolConnection {
  type Callback = (error: unknown, result: unknown) => void
  const send = (text: string, values: unknown[], callback: Callback) => {
    const response = query(
      () =>
        new Promise<unknown>((resolve, reject) => {
          const settle: Callback = (error, result) => (error ? reject(error) : resolve(result))
          runOwnQuery(() => connection.query(text, values, settle))
        }),
    )
    response.then(
      (result) => callback(null, result),
      (error) => callback(error, undefined),
    )
  }
  return { query: send as unknown as MysqlPoolConnection['query'], release }
}

async function openOutside(pool: HostPool, onOpening: (connection: PoolConnection) => void): Promise<PoolConnection> {
  const { Connection } = await loadDriver<MysqlModule>('mysql2', 'MySQL and MariaDB')
  const connection = new Connection({ config: pool.config?.connectionConfig })
  connection.on('error', ignoreError)
  onOpening(connection)
  await new Promise<void>((resolve, reject) => {
    connection.connect((error) => (error ? reject(error) : resolve()))
  })
  return connection
}

/** Which database it is: trackers of different databases must not share a spool folder. */
function addressOf({ config }: HostPool): string {
  const { host, port, database } = config?.connectionConfig ?? {}
  return `mysql://${host ?? 'localhost'}:${port ?? 3306}/${database ?? ''}`
}

export function isMysqlPool(value: object): value is HostPool | { pool: HostPool } {
  return 'getConnection' in value && typeof value.getConnection === 'function'
}

interface MysqlParts {
  lender(): Promise<Lender<MysqlPool>>
  opened(): object | null
  address: string
  closeConnections(): boolean
  close(): Promise<void>
}

function mysqlDialect({ lender, opened, address, closeConnections, close }: MysqlParts): Dialect {
  const kyselyFor = (timeout: QueryTimeout | null) => new MysqlDialect({ pool: async () => (await lender())(timeout) })
  return {
    ...mysqlCapabilities,
    name: 'mysql',
    address,
    migrates_itself: false,
    maxRowsPerFlush: 1000,
    kysely: kyselyFor(null),
    patientKysely: kyselyFor,
    columns: { id: 'bigint', identity: (column) => column.primaryKey().autoIncrement(), long_text: sql`mediumtext` },
    // Binary collation: text is compared letter by letter, as on the other databases.
    table_options: sql`engine = InnoDB default character set utf8mb4 collate utf8mb4_bin`,
    // The server's usual repeatable read takes gap locks, in which concurrent first sights of an error deadlock.
    isolation: 'read committed',
    search: mysqlSearch,
    blocks_host: false,
    insertMany,
    faultOf,
    isOutage,
    pool: opened,
    closeConnections,
    close,
  }
}

/** MySQL's index of trigrams is missing in MariaDB, and the words that both know are no literal text: every row is read. */
const mysqlSearch: TextSearch = {
  async build() {},
  isBuilt: async () => false,
  candidates: () => null,
}

const SPELLING: Spelling = {
  quote: '`',
  incoming: (column) => `values(\`${column}\`)`,
  greatest: 'greatest',
  least: 'least',
}

/** Longest statement in characters: servers refuse packets beyond their max_allowed_packet, whose smallest usual value is 1 MB. */
const STATEMENT_LENGTH = 250_000

const head = oncePerTarget((target) => insertHead(target, SPELLING))
const tail = oncePerTarget(onDuplicateKey)

async function insertMany(db: Kysely<Schema>, target: BulkTarget, rows: readonly BulkRow[]): Promise<null> {
  const row = `(${target.columns.map(() => '?').join(', ')})`
  for (const chunk of chunks(rows)) {
    const values = `values ${chunk.map(() => row).join(', ')}`
    await db.executeQuery(CompiledQuery.raw(`${head(target)} ${values}${tail(target)}`, chunk.flat()))
  }
  // MariaDB could return rows, MySQL cannot.
  return null
}

function* chunks(rows: readonly BulkRow[]): Generator<readonly BulkRow[]> {
  let start = 0
  let length = 0
  for (const [i, row] of rows.entries()) {
    const size = row.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0)
    if (i > start && length + size > STATEMENT_LENGTH) {
      yield rows.slice(start, i)
      start = i
      length = 0
    }
    length += size
  }
  if (start < rows.length) yield rows.slice(start)
}

function onDuplicateKey(target: BulkTarget): string {
  if (!target.on_conflict) return ''
  // Setting a key column to itself changes nothing, and unlike `insert ignore` it hides no other error.
  const [key] = target.on_conflict.key
  return ` on duplicate key update ${assignments(target, SPELLING) || `\`${key}\` = \`${key}\``}`
}

// Wrong text for the character set, a column without default, a row or packet that is too large.
const REFUSED_DATA = [1366, 1364, 1118, 1153]

const OUTAGES: readonly number[] = [
  // Too many connections, sign-in refused, no such database, blocked host.
  ...[1040, 1203, 1226, 1044, 1045, 1049, 1129, 1130],
  // Shutting down, killed or interrupted connection or statement, statement timeout (MariaDB, MySQL).
  ...[1053, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 1317, 1969, 3024],
  // Locked or in conflict, read-only after a failover.
  ...[1205, 3572, 1213, 1020, 1290, 1836],
  // Full disk or table, out of memory, failing or damaged storage.
  ...[1021, 1114, 1037, 1038, 1041, 1030, 1034, 1035, 1194, 1195],
]

function isOutage(error: unknown): boolean {
  const { errno, code } = factsOf(error)
  return (
    OUTAGES.includes(errno) ||
    /^(PROTOCOL_(CONNECTION_LOST|SEQUENCE_TIMEOUT|ENQUEUE_AFTER_\w+)|HANDSHAKE_\w+)$/.test(code)
  )
}

function factsOf(error: unknown): { errno: number; sqlState: string; code: string } {
  return { errno: 0, sqlState: '', code: '', ...(typeof error === 'object' ? error : null) }
}

function faultOf(error: unknown): Fault {
  const { errno, sqlState } = factsOf(error)
  // ER_LOCK_DEADLOCK, ER_LOCK_WAIT_TIMEOUT, ER_CHECKREAD (the row changed since it was last read)
  if ([1213, 1205, 1020].includes(errno)) return 'conflict'
  // Wrong data, violated constraints, a signal of a trigger: the server's verdict on what was to be written. Any other
  // code is trouble with the server, the sign-in or the schema, which hits every statement alike and passes.
  if (/^(21|22|23|44|45)/.test(sqlState) || REFUSED_DATA.includes(errno)) return 'statement'
  return 'unavailable'
}
