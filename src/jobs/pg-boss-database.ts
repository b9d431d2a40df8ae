import { TrackerError } from '../model/errors.js'
import type { Database } from '../store/database.js'
import { CompiledQuery, sql } from '../store/kysely.js'
import { reasonOf } from './reason.js'

/** The part of pg-boss that we use; it is the host's to install. */
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

/** Lends pg-boss a connection of the database, whether that is ours or the host's pool. */
export function executeSql(database: Database, text: string, values: readonly unknown[] = []): Promise<Rows> {
  // An id of ours is a number, one of pg-boss is none.
  const plain = database.read.withoutPlugins()
  return plain.connection().execute(async (db) => {
    try {
      return await db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(text, [...values]))
    } catch (error) {
      // It begins transactions in the middle of a text; one that failed there would stay open on the pool's connection.
      if (/\bbegin\b/i.test(text)) await sql`rollback`.execute(db).catch(() => {})
      throw error
    }
  })
}

/** Its tables, which are looked into, are others in every major version. */
export function wrongVersion(): TrackerError {
  return new TrackerError(
    'driver_missing',
    'job_engine pg-boss needs version 10 of the package pg-boss, and another is installed: run  npm install pg-boss@10',
  )
}

const DEADLOCK = '40P01'
const TRIES = 5

/** Processes that start at once stand in each other's way while the tables are made; PostgreSQL sends one of them back. */
export async function unlessDeadlocked(work: () => Promise<unknown>, left = TRIES): Promise<void> {
  try {
    await work()
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== DEADLOCK || left <= 1) throw error
    await unlessDeadlocked(work, left - 1)
  }
}

const INSUFFICIENT_PRIVILEGE = '42501'

/** The first start makes a schema: what to do when that is not allowed is said in a sentence. */
export function withMissingRight(error: unknown, schema: string): unknown {
  if ((error as { code?: unknown } | null)?.code !== INSUFFICIENT_PRIVILEGE) return error
  return new TrackerError(
    'configuration_invalid',
    `pg-boss could not make its schema ${schema} (${reasonOf(error)}): let an administrator run  grant create on database NAME to USER  for the first start, after which it may be revoked.`,
    { cause: error },
  )
}
