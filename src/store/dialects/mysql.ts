import { assignments, cachePerTarget, insertClause, type SqlSyntax } from '../bulk/bulk-sql.js'
import type { DatabaseTarget, MysqlPoolTarget } from '../database-target.js'
import type { BulkRow, BulkTarget, Dialect, ErrorClass, TextSearch } from '../dialect.js'
import { CompiledQuery, type Kysely, MysqlDialect, type MysqlPool, type MysqlPoolConnection } from '../kysely.js'
import { loadDriver } from '../load-driver.js'
import type { Schema } from '../schema.js'
import type { QueryTimeout } from '../sql/query-timeout.js'
import { type GuardedConnection, GuardedPool, openOnce, type PoolFactory } from './guarded-pool.js'
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

interface HostPool extends MysqlPool, MysqlPoolTarget {
  _freeConnections?: { length: number }
}

/** Shorter than five seconds, so that a probe that started just before a recovery ends in time for the import. */
const CONNECT_TIMEOUT_MS = 4000

/** Creates a pool of the tracker. Opens it on first use. */
export function mysqlUrl(target: DatabaseTarget, url: string): Dialect {
  let pool: OwnPool | undefined
  const connections = new Set<Connection>()
  const open = openOnce(async () => {
    const { createPool } = await loadDriver<MysqlModule>('mysql2', 'MySQL and MariaDB')
    const opened = createPool({
      uri: url.replace(/^mariadb:/, 'mysql:'),
      connectionLimit: 4,
      connectTimeout: CONNECT_TIMEOUT_MS,
      charset: 'utf8mb4',
      supportBigNumbers: true,
    })
    // Idle connections must not keep the process of the host alive. Connections in use must.
    opened.on('connection', (connection) => {
      connection.stream?.unref?.()
      connections.add(connection)
      for (const event of ['end', 'error'] as const) connection.on(event, () => connections.delete(connection))
    })
    opened.on('acquire', (connection) => connection.stream?.ref?.())
    opened.on('release', (connection) => connection.stream?.unref?.())
    pool = opened
    return guardPool(opened)
  })
  const closeConnections = () => {
    // `connection.destroy` would wait for the server and leave the query pending.
    for (const connection of connections) connection.stream?.destroy()
    return true
  }
  const close = async () => {
    if (!pool) return
    const timer = setTimeout(closeConnections, CONNECT_TIMEOUT_MS)
    await new Promise<void>((done) => pool?.end(() => done()))
    clearTimeout(timer)
  }
  return mysqlDialect(target, { openPool: open, opened: () => pool ?? null, closeConnections, close })
}

/** Uses the pool of the host and never closes it. */
export function mysqlPool(target: DatabaseTarget, hostPool: object): Dialect {
  const pool = ('pool' in hostPool ? hostPool.pool : hostPool) as HostPool
  return mysqlDialect(target, {
    openPool: openOnce(async () => guardPool(pool)),
    opened: () => pool,
    closeConnections: () => false,
    async close() {},
  })
}

const ignoreError = () => {}

function guardPool(pool: HostPool): PoolFactory<MysqlPool> {
  const guarded = new GuardedPool<PoolConnection>({
    acquire: () =>
      new Promise((resolve, reject) =>
        runOwnQuery(() =>
          pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection as PoolConnection))),
        ),
      ),
    release: (connection) => connection.release(),
    // `connection.destroy` would wait for the server and leave the query pending.
    destroy: (connection) => connection.stream?.destroy(),
    ping: (connection) => new Promise((resolve) => connection.ping(resolve)),
    idleCount: () => pool._freeConnections?.length ?? 0,
    openUnpooled: pool.config?.connectionConfig ? (onOpening) => openUnpooled(pool, onOpening) : () => null,
    closeUnpooled: (connection) => connection.end(ignoreError),
  })
  return (timeout) => ({
    getConnection: (callback) =>
      void guarded.acquire(timeout).then(
        (guardedConnection) => callback(null, asMysqlConnection(guardedConnection)),
        (error) => callback(error, undefined as never),
      ),
    end: (callback) => callback(null),
  })
}

/** Wraps a connection for Kysely and marks its queries as queries of the tracker. */
function asMysqlConnection({ connection, query, release }: GuardedConnection<PoolConnection>): MysqlPoolConnection {
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

async function openUnpooled(pool: HostPool, onOpening: (connection: PoolConnection) => void): Promise<PoolConnection> {
  const { Connection } = await loadDriver<MysqlModule>('mysql2', 'MySQL and MariaDB')
  const connection = new Connection({ config: pool.config?.connectionConfig })
  connection.on('error', ignoreError)
  onOpening(connection)
  await new Promise<void>((resolve, reject) => {
    connection.connect((error) => (error ? reject(error) : resolve()))
  })
  return connection
}

interface MysqlParts {
  openPool(): Promise<PoolFactory<MysqlPool>>
  opened(): object | null
  closeConnections(): boolean
  close(): Promise<void>
}

function mysqlDialect(target: DatabaseTarget, { openPool, opened, closeConnections, close }: MysqlParts): Dialect {
  const kyselyFor = (timeout: QueryTimeout | null) =>
    new MysqlDialect({ pool: async () => (await openPool())(timeout) })
  return {
    ...target,
    ...mysqlCapabilities,
    kysely: kyselyFor(null),
    kyselyWithTimeout: kyselyFor,
    columns: { id: 'bigint primary key auto_increment', longText: 'mediumtext', byteOrder: null },
    // Binary collation compares text exactly, as the other databases do.
    tableOptions: 'engine = InnoDB default character set utf8mb4 collate utf8mb4_bin',
    // The default level, repeatable read, takes gap locks. Concurrent inserts of a new error would deadlock.
    isolation: 'read committed',
    search: mysqlSearch,
    blocksHost: false,
    insertMany,
    classifyError,
    isOutage,
    pool: opened,
    closeConnections,
    close,
  }
}

/** Reads every row. MariaDB has no trigram index, and the word index of both databases cannot match literal text. */
const mysqlSearch: TextSearch = {
  async build() {},
  hasIndex: async () => false,
  candidates: () => null,
}

const SYNTAX: SqlSyntax = {
  quote: '`',
  incoming: (column) => `values(\`${column}\`)`,
  greatest: 'greatest',
  least: 'least',
}

/** Limits a statement in characters. Servers refuse packets above max_allowed_packet, which is rarely below 1 MB. */
const MAX_STATEMENT_LENGTH = 250_000

const insertSql = cachePerTarget((target) => insertClause(target, SYNTAX))
const conflictSql = cachePerTarget(onDuplicateKey)

async function insertMany(db: Kysely<Schema>, target: BulkTarget, rows: readonly BulkRow[]): Promise<null> {
  const row = `(${target.columns.map(() => '?').join(', ')})`
  for (const chunk of splitRows(rows)) {
    const values = `values ${chunk.map(() => row).join(', ')}`
    await db.executeQuery(CompiledQuery.raw(`${insertSql(target)} ${values}${conflictSql(target)}`, chunk.flat()))
  }
  // MariaDB could return rows, MySQL cannot.
  return null
}

function* splitRows(rows: readonly BulkRow[]): Generator<readonly BulkRow[]> {
  let start = 0
  let length = 0
  for (const [i, row] of rows.entries()) {
    const size = row.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0)
    if (i > start && length + size > MAX_STATEMENT_LENGTH) {
      yield rows.slice(start, i)
      start = i
      length = 0
    }
    length += size
  }
  if (start < rows.length) yield rows.slice(start)
}

function onDuplicateKey(target: BulkTarget): string {
  if (!target.onConflict) return ''
  // Setting a key column to itself changes nothing. `insert ignore` would also hide other errors.
  const [key] = target.onConflict.key
  return ` on duplicate key update ${assignments(target, SYNTAX) || `\`${key}\` = \`${key}\``}`
}

// Invalid text for the character set, missing default value, row too large, packet too large.
const REFUSED_DATA = [1366, 1364, 1118, 1153]

const OUTAGES: readonly number[] = [
  // Too many connections, access denied, unknown database, blocked host.
  ...[1040, 1203, 1226, 1044, 1045, 1049, 1129, 1130],
  // Shutdown, killed or interrupted connection or statement, statement timeout (MariaDB, MySQL).
  ...[1053, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 1317, 1969, 3024],
  // Lock timeout or conflict, read-only after a failover.
  ...[1205, 3572, 1213, 1020, 1290, 1836],
  // Full disk or table, out of memory, failing or damaged storage.
  ...[1021, 1114, 1037, 1038, 1041, 1030, 1034, 1035, 1194, 1195],
]

function isOutage(error: unknown): boolean {
  const { errno, code } = errorDetails(error)
  return (
    OUTAGES.includes(errno) ||
    /^(PROTOCOL_(CONNECTION_LOST|SEQUENCE_TIMEOUT|ENQUEUE_AFTER_\w+)|HANDSHAKE_\w+)$/.test(code)
  )
}

function errorDetails(error: unknown): { errno: number; sqlState: string; code: string } {
  return { errno: 0, sqlState: '', code: '', ...(typeof error === 'object' ? error : null) }
}

function classifyError(error: unknown): ErrorClass {
  const { errno, sqlState } = errorDetails(error)
  // ER_LOCK_DEADLOCK, ER_LOCK_WAIT_TIMEOUT, ER_CHECKREAD (the row changed since it was last read)
  if ([1213, 1205, 1020].includes(errno)) return 'conflict'
  // Invalid data, violated constraints and signals of a trigger. All other codes concern the server, authentication or the
  // schema and are temporary.
  if (/^(21|22|23|44|45)/.test(sqlState) || REFUSED_DATA.includes(errno)) return 'statement'
  return 'unavailable'
}
