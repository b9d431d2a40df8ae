import { DEFAULT_ENVIRONMENT, environmentName } from '../../model/environment.js'
import type { Dialect } from '../dialect.js'
import { sql } from '../kysely.js'
import { TABLES } from './0001-initial.js'
import { type AnyDatabase, createTable, type Migration } from './table.js'

/**
 * Adds the environment to the keys of errors, releases, baselines and sums. Replaces tables, because SQLite cannot
 * change a key. This is safe: no release contains the earlier schema, so no older process writes afterward. MySQL
 * cannot roll back, so an interrupted migration continues from the copies. The copy of the errors is created last and
 * dropped first.
 */
export const environments: Migration = {
  async up(db, dialect) {
    const copyOfErrors = copyName('faultboard_errors')
    const isInterrupted = (await dialect.findTable(copyOfErrors).execute(db)).rows.length > 0
    if (!isInterrupted) {
      // A new database has the column already.
      if ((await dialect.findColumn('faultboard_errors', 'environment').execute(db)).rows.length > 0) return
      for (const table of COPIED_TABLES) await copyTable(db, table)
    }
    await restoreErrors(db, dialect)
    for (const table of RELEASE_TABLES) await restoreReleases(db, dialect, table)
    await recreateTable(db, dialect, 'faultboard_baselines')
    for (const [table, sums] of Object.entries(DERIVED_SUMS)) {
      await recreateTable(db, dialect, table)
      await sql.raw(`insert into ${table} ${sums}`).execute(db)
    }
    for (const table of COPIED_TABLES.toReversed()) await sql.raw(`drop table ${copyName(table)}`).execute(db)
  },
}

const RELEASE_TABLES = ['faultboard_releases', 'faultboard_client_releases'] as const
const COPIED_TABLES = [...RELEASE_TABLES, 'faultboard_errors'] as const

function copyName(table: string): string {
  return `${table}_without_environment`
}

async function copyTable(db: AnyDatabase, table: string): Promise<void> {
  await sql.raw(`drop table if exists ${copyName(table)}`).execute(db)
  await sql.raw(`create table ${copyName(table)} as select * from ${table}`).execute(db)
}

async function recreateTable(db: AnyDatabase, dialect: Dialect, table: string): Promise<void> {
  const definition = TABLES[table]
  if (!definition) throw new Error(`${table} has no definition.`)
  await sql.raw(`drop table if exists ${table}`).execute(db)
  await createTable(db, dialect, table, definition)
}

async function restoreErrors(db: AnyDatabase, dialect: Dialect): Promise<void> {
  await recreateTable(db, dialect, 'faultboard_errors')
  const columns = Object.keys(TABLES.faultboard_errors?.columns ?? {}).filter((name) => name !== 'environment')
  const list = columns.join(', ')
  await sql
    .raw(
      `insert into faultboard_errors (${list}, environment)
       select ${list}, '${DEFAULT_ENVIRONMENT}' from ${copyName('faultboard_errors')}`,
    )
    .execute(db)
  await dialect.resetSequence?.(db, 'faultboard_errors')
  await setEnvironments(db)
}

const ERRORS_PER_QUERY = 500

/** Sets the environment of each error to that of its newest occurrence. */
async function setEnvironments(db: AnyDatabase): Promise<void> {
  for (let last = 0; ; ) {
    const errors = await db
      .selectFrom('faultboard_errors')
      .select('id')
      .where('id', '>', last)
      .orderBy('id')
      .limit(ERRORS_PER_QUERY)
      .execute()
    const ids = errors.map(({ id }) => Number(id))
    if (ids.length === 0) return
    const { rows } = await sql<{ error_id: number | string; context: string | null }>`
      select o.error_id, o.context from faultboard_occurrences o
      where o.error_id in (${sql.join(ids)}) and o.occurred_at =
        (select max(n.occurred_at) from faultboard_occurrences n where n.error_id = o.error_id)
      order by o.id`.execute(db)
    const environmentById = new Map(rows.map(({ error_id, context }) => [Number(error_id), readEnvironment(context)]))
    for (const environment of new Set(environmentById.values())) {
      const own = ids.filter((id) => environmentById.get(id) === environment)
      await db.updateTable('faultboard_errors').set({ environment }).where('id', 'in', own).execute()
    }
    last = ids.at(-1) ?? last
  }
}

function readEnvironment(context: string | null): string {
  try {
    return environmentName(JSON.parse(context ?? '{}').environment) ?? DEFAULT_ENVIRONMENT
  } catch {
    // A damaged context must not prevent the migration.
    return DEFAULT_ENVIRONMENT
  }
}

/** Assigns each release to all environments of its application, because the environment of a release is not stored. */
async function restoreReleases(db: AnyDatabase, dialect: Dialect, table: string): Promise<void> {
  await recreateTable(db, dialect, table)
  await sql
    .raw(
      `insert into ${table} (application_id, platform, version, environment, first_seen_at)
       select r.application_id, r.platform, r.version, coalesce(e.environment, '${DEFAULT_ENVIRONMENT}'), r.first_seen_at
       from ${copyName(table)} r left join (select distinct application_id, environment from faultboard_errors) e
         on e.application_id = r.application_id`,
    )
    .execute(db)
}

const HOURS_OF_ERRORS = 'from faultboard_error_hours h join faultboard_errors e on e.id = h.error_id'
const DAY_OF_HOUR = 'h.hour - h.hour % 86400000'

/** Columns and values of the sums that are derived from the hourly sums of errors. */
const DERIVED_SUMS = {
  faultboard_application_hours: `(application_id, hour, severity, platform, app_version, environment, count)
    select e.application_id, h.hour, h.severity, h.platform, h.app_version, e.environment, sum(h.count)
    ${HOURS_OF_ERRORS} group by e.application_id, h.hour, h.severity, h.platform, h.app_version, e.environment`,
  faultboard_application_days: `(application_id, day, severity, platform, app_version, environment, count)
    select e.application_id, ${DAY_OF_HOUR}, h.severity, h.platform, h.app_version, e.environment, sum(h.count)
    ${HOURS_OF_ERRORS} group by e.application_id, ${DAY_OF_HOUR}, h.severity, h.platform, h.app_version, e.environment`,
  faultboard_type_hours: `(application_id, error_type, hour, environment, count)
    select e.application_id, e.error_type, h.hour, e.environment, sum(h.count)
    ${HOURS_OF_ERRORS} group by e.application_id, e.error_type, h.hour, e.environment`,
  faultboard_type_days: `(application_id, day, error_type, environment, count)
    select e.application_id, ${DAY_OF_HOUR}, e.error_type, e.environment, sum(h.count)
    ${HOURS_OF_ERRORS} group by e.application_id, ${DAY_OF_HOUR}, e.error_type, e.environment`,
}
