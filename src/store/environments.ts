import { applicationIds } from './applications.js'
import type { Database } from './database.js'
import type { Kysely } from './kysely.js'
import type { Schema } from './schema.js'

/** Limits the queries. Clients cannot create as many, and a host has a handful. */
const MAX_ENVIRONMENTS = 100

/**
 * Returns the environments of the errors of an application in the order of the database. Jumps from name to name in the index of the
 * record key, because `distinct` would read every error.
 */
export async function environmentsOfApplication(db: Kysely<Schema>, application_id: number): Promise<string[]> {
  const names: string[] = []
  while (names.length < MAX_ENVIRONMENTS) {
    const row = await db
      .selectFrom('faultboard_errors')
      .select('environment')
      .where('application_id', '=', application_id)
      .where('environment', '>', names.at(-1) ?? '')
      .orderBy('environment')
      .limit(1)
      .executeTakeFirst()
    if (!row) break
    names.push(row.environment)
  }
  return names
}

/** Returns the environments of recent processes, including processes without recorded errors. */
async function environmentsOfProcesses(db: Kysely<Schema>, application_id: number): Promise<string[]> {
  const rows = await db
    .selectFrom('faultboard_processes')
    .select('environment')
    .distinct()
    .where('application_id', '=', application_id)
    .execute()
  return rows.map(({ environment }) => environment)
}

/** Returns the environments of all applications, sorted by name. */
export async function allEnvironments(database: Database): Promise<string[]> {
  return loadEnvironments(database, await applicationIds(database))
}

/** Returns the environments of the errors and processes of some applications, sorted by name. */
export async function loadEnvironments({ read }: Database, application_ids: readonly number[]): Promise<string[]> {
  const names = await Promise.all(
    application_ids.flatMap((id) => [environmentsOfApplication(read, id), environmentsOfProcesses(read, id)]),
  )
  return [...new Set(names.flat())].sort()
}
