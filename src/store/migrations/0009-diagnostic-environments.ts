import { DEFAULT_ENVIRONMENT } from '../../model/environment.js'
import type { Dialect } from '../dialect.js'
import { sql } from '../kysely.js'
import type { AnyDatabase, Migration } from './table.js'

const TABLES = [
  'faultboard_diagnostic_dumps',
  'faultboard_processes',
  'faultboard_swallowed_exceptions',
  'faultboard_request_guard_hours',
  'faultboard_repeated_statement_hours',
  'faultboard_deprecation_hours',
]

/**
 * Adds the environment of the process to diagnostics. The keys of the hourly tables do not change, because their digests
 * contain it. Idempotent, because MySQL cannot roll back.
 */
export const diagnosticEnvironments: Migration = {
  async up(db, dialect) {
    for (const table of TABLES) await addEnvironment(db, dialect, table)
    for (const { id, environment } of await newestEnvironments(db)) {
      for (const table of TABLES) {
        await db.updateTable(table).set({ environment }).where('application_id', '=', id).execute()
      }
    }
  },
}

async function addEnvironment(db: AnyDatabase, dialect: Dialect, table: string): Promise<void> {
  if ((await dialect.findColumn(table, 'environment').execute(db)).rows.length > 0) return
  // Rows of processes that run an earlier version take the default.
  await sql
    .raw(`alter table ${table} add column environment varchar(64) default '${DEFAULT_ENVIRONMENT}' not null`)
    .execute(db)
}

/** Environment of the newest error of each application, unless it is the default. */
async function newestEnvironments(db: AnyDatabase): Promise<{ id: number; environment: string }[]> {
  const { rows } = await sql<{ id: number; environment: string | null }>`
    select a.id, (select e.environment from faultboard_errors e where e.application_id = a.id
      order by e.occurred_at desc limit 1) as environment from faultboard_applications a`.execute(db)
  return rows.flatMap(({ id, environment }) =>
    environment === null || environment === DEFAULT_ENVIRONMENT ? [] : [{ id: Number(id), environment }],
  )
}
