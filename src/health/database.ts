import type * as v from 'valibot'
import type { Context } from '../context.js'
import { failureMessage, TrackerError } from '../model/errors.js'
import * as r from '../model/result.js'
import { withTimeout } from '../model/with-timeout.js'
import { sql } from '../store/kysely.js'
import { migrationStatus } from '../store/migrate.js'

export const QUERY_TIMEOUT_MS = 3000

export const DatabaseHealth = r.object({
  /** Address without its password. */
  address: r.text,
  kind: r.oneOf(['sqlite', 'postgres', 'mysql']),
  reachable: r.boolean,
  /** Duration of a trivial query. */
  latency_ms: r.nullable(r.number),
  /** Reason why the database cannot be used. */
  problem: r.nullable(r.text),
  migrations: r.nullable(r.object({ applied: r.list(r.text), pending: r.list(r.text) })),
  /** Number of times the open file of an embedded database was deleted or replaced since this process started. */
  replaced_count: r.integer,
  /** Damage reported by SQLite; null for an intact file and for a server. */
  damage: r.nullable(r.text),
  /** False if the error search has no index. The search is then slower but finds the same errors. */
  search_index: r.nullable(r.boolean),
})
export type DatabaseHealth = v.InferOutput<typeof DatabaseHealth>

/** Checks the database. Never rejects: a failure is part of the result. */
export async function databaseHealth(context: Context): Promise<DatabaseHealth> {
  const { dialect, read } = context.database
  const health: DatabaseHealth = {
    address: dialect.address,
    kind: dialect.name,
    reachable: false,
    latency_ms: null,
    problem: null,
    migrations: null,
    replaced_count: 0,
    damage: null,
    search_index: null,
  }
  try {
    health.problem = await withTimeout(context.ready(), QUERY_TIMEOUT_MS).then(() => null, schemaProblem)
    const startedAt = performance.now()
    await withTimeout(sql`select 1`.execute(read), QUERY_TIMEOUT_MS)
    health.latency_ms = Math.round((performance.now() - startedAt) * 10) / 10
    health.reachable = true
    const migrations = await withTimeout(migrationStatus(context.database), QUERY_TIMEOUT_MS)
    const migrationNames = (isApplied: boolean) =>
      migrations.filter(({ applied_at }) => (applied_at !== null) === isApplied).map(({ name }) => name)
    health.migrations = { applied: migrationNames(true), pending: migrationNames(false) }
    if (health.problem === null)
      health.search_index = await withTimeout(dialect.search.hasIndex(read), QUERY_TIMEOUT_MS)
  } catch (error) {
    health.reachable = false
    health.problem = failureMessage(error)
  }
  health.replaced_count = dialect.file?.replacedCount ?? 0
  health.damage = dialect.file?.damage ?? null
  return health
}

/**
 * Returns the message for an outdated schema. Rethrows any other error, which means that the database is unreachable.
 */
function schemaProblem(error: unknown): string {
  if (error instanceof TrackerError && error.code === 'schema_outdated') return error.message
  throw error
}
