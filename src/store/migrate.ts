import { TrackerError } from '../model/errors.js'
import type { Database } from './database.js'
import { Migrator, sql } from './kysely.js'
import { MIGRATIONS } from './migrations/list.js'

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

/** Reads the table of migrations itself, because Kysely would read the columns of all tables first. */
async function appliedMigrations({ read, dialect }: Database): Promise<Map<string, Date>> {
  const db = read.withoutPlugins()
  const { rows: tables } = await dialect.findTable(MIGRATION_TABLE).execute(db)
  if (tables.length === 0) return new Map()
  const { rows } = await sql<{ name: string; timestamp: string }>`
    select name, timestamp from ${sql.table(MIGRATION_TABLE)}`.execute(db)
  return new Map(rows.map(({ name, timestamp }) => [name, new Date(timestamp)]))
}

/** Applies the pending migrations and returns their names. Of several concurrent processes, only one migrates. */
export async function migrate(database: Database): Promise<string[]> {
  // Kysely rejects unknown applied migrations, but a newer version may have applied some to this database.
  if ((await pendingMigrations(database)).length === 0) return []
  const { error, results } = await (await createMigrator(database)).migrateToLatest()
  if (error) {
    throw new TrackerError(
      'database_unavailable',
      `The migration of ${database.dialect.address} failed: ${failureReason(error)}`,
      { cause: error },
    )
  }
  return (results ?? []).filter(({ status }) => status === 'Success').map(({ migrationName }) => migrationName)
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

function failureReason(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error)
  // Message of Kysely for applied migrations that are missing in this version.
  if (!reason.startsWith('corrupted migrations')) return reason
  return `Its tables were created by a development version of Faultboard (${reason}). Export the errors with that version, then import them into a new database.`
}

async function createMigrator({ read, dialect }: Database): Promise<Migrator> {
  const db = read.withoutPlugins()
  const schema = await dialect.currentSchema(db)
  return new Migrator({
    db,
    migrationTableName: MIGRATION_TABLE,
    migrationLockTableName: 'faultboard_migrations_lock',
    // Tables with the same names in another schema belong to another tracker.
    ...(schema === undefined ? {} : { migrationTableSchema: schema }),
    provider: {
      async getMigrations() {
        return Object.fromEntries(
          Object.entries(MIGRATIONS).map(([name, { up }]) => [name, { up: (schema) => up(schema, dialect) }]),
        )
      },
    },
  })
}
