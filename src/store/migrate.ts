import { TrackerError } from '../model/errors.js'
import type { Database } from './database.js'
import { Migrator, sql } from './kysely.js'
import { MIGRATIONS } from './migrations/list.js'

export interface MigrationStatus {
  name: string
  applied_at: string | null
}

/** Each migration and when it was applied; null for those that are still to come. */
export async function migrationStatus(database: Database): Promise<MigrationStatus[]> {
  const migrations = await (await migratorFor(database)).getMigrations()
  return migrations.map(({ name, executedAt }) => ({ name, applied_at: executedAt?.toISOString() ?? null }))
}

/** Brings the schema up to date and gives the names of what was applied. Of several processes, one does the work. */
export async function migrate(database: Database): Promise<string[]> {
  // Nothing pending may also mean that a newer version has been here, which Kysely takes for a damaged history.
  if ((await pendingMigrations(database)).length === 0) return []
  const { error, results } = await (await migratorFor(database)).migrateToLatest()
  if (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new TrackerError('database_unavailable', `The migration of ${database.dialect.address} failed: ${reason}`, {
      cause: error,
    })
  }
  return (results ?? []).filter(({ status }) => status === 'Success').map(({ migrationName }) => migrationName)
}

/** The sentence for an operator whose schema is behind, or null when it is up to date. */
export async function outdatedSchema(database: Database): Promise<string | null> {
  const pending = await pendingMigrations(database)
  if (pending.length === 0) return null
  return `The schema of ${database.dialect.address} is not up to date (pending: ${pending.join(', ')}). Run  npx faultboard migrate --database URL  with the address of that database (or set FAULTBOARD_DATABASE); until then errors are kept in the spool folder.`
}

async function pendingMigrations(database: Database): Promise<string[]> {
  return (await migrationStatus(database)).filter(({ applied_at }) => applied_at === null).map(({ name }) => name)
}

async function migratorFor({ read, dialect }: Database): Promise<Migrator> {
  const db = read.withoutPlugins()
  return new Migrator({
    db,
    migrationTableName: 'faultboard_migrations',
    migrationLockTableName: 'faultboard_migrations_lock',
    ...(dialect.name === 'postgres' ? { migrationTableSchema: await currentSchema(db) } : {}),
    provider: {
      async getMigrations() {
        return Object.fromEntries(
          Object.entries(MIGRATIONS).map(([name, { up }]) => [name, { up: (schema) => up(schema, dialect) }]),
        )
      },
    },
  })
}

/** Where unqualified names go: the same tables in another schema of the database are another tracker's. */
async function currentSchema(db: Database['read']): Promise<string> {
  const { rows } = await sql<{ schema: string | null }>`select current_schema() as schema`.execute(db)
  return rows[0]?.schema ?? 'public'
}
