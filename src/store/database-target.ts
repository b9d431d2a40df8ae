import { resolve } from 'node:path'
import { TrackerError } from '../model/errors.js'
import { maskPassword } from './load-driver.js'

/** Properties of the configured database that are known before the modules with SQL are loaded. */
export interface DatabaseTarget {
  /** For display and tests. Other code branches on a capability. */
  readonly name: 'sqlite' | 'postgres' | 'mysql'
  /** Address with a masked password, for display. It must identify the database: the spool folder is derived from it. */
  readonly address: string
  /** True if the tracker opens a SQLite file itself. */
  readonly isOwnFile: boolean
  /** Limits the events of one transaction, because an embedded database blocks the host's thread. */
  readonly maxRowsPerFlush: number
  /** True if the database runs in the process and on the thread of the host. */
  readonly isEmbedded: boolean
  /** True if pg-boss can store its jobs in this database. */
  readonly canHostPgBoss: boolean
}

const SQLITE = { name: 'sqlite', maxRowsPerFlush: 250, isEmbedded: true, canHostPgBoss: false } as const
const SERVER = { isOwnFile: false, maxRowsPerFlush: 1000, isEmbedded: false } as const
const POSTGRES = { ...SERVER, name: 'postgres', canHostPgBoss: true } as const
const MYSQL = { ...SERVER, name: 'mysql', canHostPgBoss: false } as const

/** Describes the database of the option `database`. Throws for an unsupported object. */
export function describeDatabase(option: string | object, root: string): DatabaseTarget {
  if (typeof option === 'string') {
    if (option.startsWith('sqlite:')) {
      return { ...SQLITE, address: `sqlite:${sqliteFile(option, root)}`, isOwnFile: true }
    }
    return { ...(/^postgres(ql)?:/.test(option) ? POSTGRES : MYSQL), address: maskPassword(option) }
  }
  if (isPostgresPool(option)) return { ...POSTGRES, address: `${postgresAddress(option)} (the host's pool)` }
  if (isMysqlPool(option)) return { ...MYSQL, address: `${mysqlAddress(option)} (the host's pool)` }
  if (isSqliteHandle(option)) {
    const address = `sqlite:${handleFile(option) ?? ':memory:'} (the host's handle)`
    return { ...SQLITE, address, isOwnFile: false }
  }
  throw new TrackerError(
    'configuration_invalid',
    'Unsupported database object. Pass a pg Pool, a mysql2 pool, a node:sqlite or better-sqlite3 handle, or a URL.',
  )
}

function sqliteFile(url: string, root: string): string {
  const name = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '')
  return name === ':memory:' ? name : resolve(root, name)
}

/** Returns the file of the host's handle, or null for an in-memory database. */
export function handleFile(handle: object): string | null {
  const { location, name } = handle as { location?: () => string | null; name?: string }
  const file = typeof location === 'function' ? location.call(handle) : typeof name === 'string' ? name : null
  return file && file !== ':memory:' ? file : null
}

function isSqliteHandle(value: object): boolean {
  return (
    'prepare' in value && typeof value.prepare === 'function' && 'exec' in value && typeof value.exec === 'function'
  )
}

/** Pool of the host, from pg. */
export interface PostgresPoolTarget {
  readonly options?: { connectionString?: string; host?: string; port?: number; database?: string }
}

function isPostgresPool(value: object): value is PostgresPoolTarget {
  return 'connect' in value && typeof value.connect === 'function' && 'totalCount' in value
}

function postgresAddress({ options }: PostgresPoolTarget): string {
  if (options?.connectionString) return maskPassword(options.connectionString)
  return `postgres://${options?.host ?? 'localhost'}:${options?.port ?? 5432}/${options?.database ?? ''}`
}

/** Pool of the host, from mysql2 or mysql2/promise. */
export interface MysqlPoolTarget {
  config?: { connectionConfig?: { host?: string; port?: number; database?: string } }
}

function isMysqlPool(value: object): value is MysqlPoolTarget | { pool: MysqlPoolTarget } {
  return 'getConnection' in value && typeof value.getConnection === 'function'
}

function mysqlAddress(hostPool: MysqlPoolTarget | { pool: MysqlPoolTarget }): string {
  const { config } = 'pool' in hostPool ? hostPool.pool : hostPool
  const { host, port, database } = config?.connectionConfig ?? {}
  return `mysql://${host ?? 'localhost'}:${port ?? 3306}/${database ?? ''}`
}
