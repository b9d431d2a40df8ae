import { CompiledQuery, type Kysely, MysqlDialect, type MysqlPool, sql } from 'kysely'
import { assignments, insertHead, type Spelling } from '../bulk-sql.js'
import type { BulkInsert, Dialect, Fault } from '../dialect.js'
import { loadDriver, maskedAddress } from '../driver.js'
import type { Schema } from '../schema.js'

interface Connection {
  stream?: { ref?(): void; unref?(): void }
}

interface MysqlModule {
  createPool(options: object): MysqlPool & { on(event: string, listener: (connection: Connection) => void): unknown }
}

/** A pool of ours, opened when it is first used. */
export function mysqlUrl(url: string): Dialect {
  let pool: MysqlPool | undefined
  const open = async () => {
    const { createPool } = await loadDriver<MysqlModule>('mysql2', 'MySQL and MariaDB')
    const opened = createPool({
      uri: url.replace(/^mariadb:/, 'mysql:'),
      connectionLimit: 4,
      connectTimeout: 5000,
      charset: 'utf8mb4',
      supportBigNumbers: true,
    })
    // The host's process must be able to end while our connections are idle, but not while one is at work.
    opened.on('connection', ({ stream }) => stream?.unref?.())
    opened.on('acquire', ({ stream }) => stream?.ref?.())
    opened.on('release', ({ stream }) => stream?.unref?.())
    pool = opened
    return opened
  }
  const close = () => new Promise<void>((done) => (pool ? pool.end(() => done()) : done()))
  return mysqlDialect({ pool: open, address: maskedAddress(url), close })
}

/** The host's own pool, plain or from mysql2/promise, which stays the host's to close. */
export function mysqlPool(given: MysqlPool | { pool: MysqlPool }): Dialect {
  const pool = 'pool' in given ? given.pool : given
  const lent: MysqlPool = {
    getConnection: (callback) => pool.getConnection(callback),
    end: (callback) => callback(null),
  }
  return mysqlDialect({ pool: lent, address: "mysql (the host's pool)", close: async () => {} })
}

export function isMysqlPool(value: object): value is MysqlPool | { pool: MysqlPool } {
  return 'getConnection' in value && typeof value.getConnection === 'function'
}

interface MysqlParts {
  pool: MysqlPool | (() => Promise<MysqlPool>)
  address: string
  close(): Promise<void>
}

function mysqlDialect({ pool, address, close }: MysqlParts): Dialect {
  return {
    name: 'mysql',
    address,
    migrates_itself: false,
    flush_limit: 1000,
    kysely: new MysqlDialect({ pool }),
    columns: { id: 'bigint', identity: (column) => column.primaryKey().autoIncrement(), long_text: sql`mediumtext` },
    // Binary collation: text is compared letter by letter, as on the other databases.
    table_options: sql`engine = InnoDB default character set utf8mb4 collate utf8mb4_bin`,
    // The server's usual repeatable read takes gap locks, in which concurrent first sights of an error deadlock.
    isolation: 'read committed',
    insertMany,
    faultOf,
    close,
  }
}

const SPELLING: Spelling = {
  quote: '`',
  incoming: (column) => `values(\`${column}\`)`,
  greatest: 'greatest',
  least: 'least',
}

async function insertMany(db: Kysely<Schema>, insert: BulkInsert): Promise<number> {
  const row = `(${insert.columns.map(() => '?').join(', ')})`
  const values = `values ${insert.rows.map(() => row).join(', ')}`
  const query = CompiledQuery.raw(
    `${insertHead(insert, SPELLING)} ${values}${onDuplicateKey(insert)}`,
    insert.rows.flat(),
  )
  return Number((await db.executeQuery(query)).numAffectedRows ?? 0)
}

function onDuplicateKey(insert: BulkInsert): string {
  if (!insert.on_conflict) return ''
  // Setting a key column to itself changes nothing, and unlike `insert ignore` it hides no other error.
  const [key] = insert.on_conflict.key
  return ` on duplicate key update ${assignments(insert, SPELLING) || `\`${key}\` = \`${key}\``}`
}

// Too many connections, shutdown, full disk, refused sign-in, unknown database, a table or column not there (yet).
const TROUBLE_WITH_THE_SERVER = [1040, 1053, 1021, 1044, 1045, 1049, 1146, 1054]

function faultOf(error: unknown): Fault {
  const { errno = 0, sqlState } = (typeof error === 'object' && error !== null ? error : {}) as {
    errno?: number
    sqlState?: string
  }
  // ER_LOCK_DEADLOCK, ER_LOCK_WAIT_TIMEOUT, ER_CHECKREAD (the row changed since it was last read)
  if ([1213, 1205, 1020].includes(errno)) return 'conflict'
  if (sqlState && !TROUBLE_WITH_THE_SERVER.includes(errno)) return 'statement'
  return 'unavailable'
}
