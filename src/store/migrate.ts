import { failureMessage, TrackerError } from '../model/errors.js'
import type { Database } from './database.js'
import type { Dialect } from './dialect.js'
import { sql } from './kysely.js'
import { MIGRATIONS } from './migrations/list.js'
import type { AnyDatabase } from './migrations/table.js'

const MIGRATION_TABLE = 'faultboard_migrations'

export interface MigrationStatus {
  name: string
  applied_at: string | null
}

/** Returns each migration with the time it was applied, which is null for pending migrations. */
export async function migrationStatus(database: Database): Promise<MigrationStatus[]> {
  const applied = await appliedMigrations(database)
  return Object.keys(MIGRATIONS).map((name) => ({ name, applied_at: applied.get(name)?.toISOString() ?? null }))
}

async function appliedMigrations({ read, dialect }: Database): Promise<Map<string, Date>> {
  const db = read.withoutPlugins()
  const { rows: tables } = await dialect.findTable(MIGRATION_TABLE).execute(db)
  return tables.length === 0 ? new Map() : readApplied(db)
}

async function readApplied(db: AnyDatabase): Promise<Map<string, Date>> {
  const { rows } = await sql<{ name: string; timestamp: string }>`
    select name, timestamp from ${sql.table(MIGRATION_TABLE)}`.execute(db)
  return new Map(rows.map(({ name, timestamp }) => [name, new Date(timestamp)]))
}

/** Applies the pending migrations and returns their names. Of several concurrent processes, only one migrates. */
export async function migrate(database: Database, now: () => number = Date.now): Promise<string[]> {
  if ((await pendingMigrations(database)).length === 0) return []
  try {
    return await withMigrationLock(database, (db) => applyPending(db, database.dialect, now))
  } catch (cause) {
    const message = `The migration of ${database.dialect.address} failed: ${failureMessage(cause)}`
    throw new TrackerError('database_unavailable', message, { cause })
  }
}

/** Returns a message for the operator if migrations are pending, or null if the schema is up to date. */
export async function describePendingMigrations(database: Database): Promise<string | null> {
  const pending = await pendingMigrations(database)
  if (pending.length === 0) return null
  return `The schema of ${database.dialect.address} is not up to date (pending: ${pending.join(', ')}). Run  npx faultboard migrate --database URL  with the address of that database (or set FAULTBOARD_DATABASE). Until then, errors are written to the spool folder.`
}

async function pendingMigrations(database: Database): Promise<string[]> {
  return (await migrationStatus(database)).filter(({ applied_at }) => applied_at === null).map(({ name }) => name)
}

/** The locks of Kysely need no table. Its migrator reads the columns of all tables, which delays a new database. */
const LOCK_OPTIONS = { lockTable: '', lockRowId: '' }

async function withMigrationLock<T>({ read }: Database, work: (db: AnyDatabase) => Promise<T>): Promise<T> {
  const { adapter } = read.getExecutor()
  return read
    .withoutPlugins()
    .connection()
    .execute(async (db) => {
      await adapter.acquireMigrationLock(db, LOCK_OPTIONS)
      try {
        return await (adapter.supportsTransactionalDdl ? db.transaction().execute(work) : work(db))
      } finally {
        await adapter.releaseMigrationLock(db, LOCK_OPTIONS)
      }
    })
}

async function applyPending(db: AnyDatabase, dialect: Dialect, now: () => number): Promise<string[]> {
  const columns = 'name varchar(255) not null primary key, timestamp varchar(255) not null'
  await sql.raw(`create table if not exists ${MIGRATION_TABLE} (${columns})`).execute(db)
  const applied = await readApplied(db)
  const unknown = [...applied.keys()].filter((name) => !Object.hasOwn(MIGRATIONS, name))
  const pending = Object.entries(MIGRATIONS).filter(([name]) => !applied.has(name))
  if (pending.length > 0 && unknown.length > 0) {
    throw new Error(
      `Its tables were created by a development version of Faultboard (${unknown.join(', ')}). Export the errors with that version, then import them into a new database.`,
    )
  }
  for (const [name, { up }] of pending) {
    await up(db, dialect)
    const row = [name, new Date(now()).toISOString()]
    await sql`insert into ${sql.table(MIGRATION_TABLE)} (name, timestamp) values (${sql.join(row)})`.execute(db)
  }
  return pending.map(([name]) => name)
}
