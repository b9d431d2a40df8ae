import { installedVersion } from '../config/supported-packages.js'
import { TrackerError } from '../model/errors.js'
import type { Database } from '../store/database.js'
import { CompiledQuery, sql } from '../store/kysely.js'
import { failureReason } from './reason.js'

/** Subset of the pg-boss API in use. The host installs the package. */
export type BossModule = new (options: object) => Boss

export interface Boss {
  on(event: 'error', listener: () => void): unknown
  start(): Promise<unknown>
  createQueue(name: string): Promise<void>
  insert(jobs: readonly object[]): Promise<unknown>
  fetch(name: string, options: object): Promise<BossJob[]>
  expire?(): Promise<void>
}

export interface BossJob {
  id: string
  data: { name: string; data: Record<string, unknown> }
  retryCount: number
  retryLimit: number
}

export interface Rows {
  rows: Record<string, unknown>[]
}

/** Runs pg-boss SQL on a connection of `database`. */
export function executeSql(database: Database, text: string, values: readonly unknown[] = []): Promise<Rows> {
  // Disables plugins that convert numeric ids, because pg-boss uses UUIDs.
  const rawDatabase = database.read.withoutPlugins()
  return rawDatabase.connection().execute(async (db) => {
    try {
      return await db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(text, [...values]))
    } catch (error) {
      // pg-boss starts transactions inside the SQL text. A failed transaction would stay open on the pooled connection.
      if (/\bbegin\b/i.test(text)) await sql`rollback`.execute(db).catch(() => {})
      throw error
    }
  })
}

/** Error for an unsupported major version, whose tables differ from those queried here. */
export function unsupportedVersionError(): TrackerError {
  return new TrackerError(
    'driver_missing',
    `job_engine pg-boss requires pg-boss 10, but ${installedVersion('pg-boss') ?? 'another version'} is installed. Run  npm install pg-boss@10`,
  )
}

const DEADLOCK = '40P01'
const MAX_START_ATTEMPTS = 5

/** Retries `work` after a deadlock. Processes that start concurrently can deadlock while they create the tables. */
export async function retryDeadlocks(work: () => Promise<unknown>, attemptsLeft = MAX_START_ATTEMPTS): Promise<void> {
  try {
    await work()
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== DEADLOCK || attemptsLeft <= 1) throw error
    await retryDeadlocks(work, attemptsLeft - 1)
  }
}

const INSUFFICIENT_PRIVILEGE = '42501'

/** Explains how to grant the privilege to create the schema, which the first start needs. */
export function explainMissingPrivilege(error: unknown, schema: string): unknown {
  if ((error as { code?: unknown } | null)?.code !== INSUFFICIENT_PRIVILEGE) return error
  return new TrackerError(
    'configuration_invalid',
    `pg-boss cannot create its schema ${schema} (${failureReason(error)}). Ask an administrator to run  grant create on database NAME to USER  for the first start; it can be revoked afterward.`,
    { cause: error },
  )
}
