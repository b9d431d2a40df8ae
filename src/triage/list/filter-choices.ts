import type { Context } from '../../context.js'
import { allEnvironments, loadEnvironments } from '../../store/environments.js'
import { sql } from '../../store/kysely.js'
import { withoutIndex } from '../../store/sql/sort-order.js'

/** Value of recent errors with their applications. */
export interface RecentValue {
  value: string
  application_ids: number[]
}

/** User with the number of different errors in the newest occurrences. */
export interface RecentUser {
  value: string
  errors: number
}

/** Platforms and versions of the most recently seen errors, and users of the newest occurrences. */
export interface RecentOrigins {
  platforms: RecentValue[]
  /** Most recently seen first. */
  app_versions: RecentValue[]
  /** Most errors first, then most recently seen first. */
  users: RecentUser[]
}

export interface FilterChoices extends RecentOrigins {
  assignees: string[]
  /** Names to suggest for an assignment: assignees, accounts and people who signed in. */
  people: string[]
  environments: string[]
}

/** Limits the scan for filter options. Users can still type older versions and inactive platforms. */
const MAX_RECENT_ERRORS = 1000
const MAX_VERSIONS = 20
const MAX_ASSIGNEES = 100
const MAX_RECENT_OCCURRENCES = 300
const MAX_USERS = 20

export async function recentOrigins(context: Context, application_id: number | null): Promise<RecentOrigins> {
  const [rows, users] = await Promise.all([
    loadRecentValues(context, application_id),
    loadRecentUsers(context, application_id),
  ])
  const newestFirst = [...rows].sort((a, b) => b.occurred_at - a.occurred_at)
  return {
    platforms: distinctValues(newestFirst.map(({ platform, ...row }) => ({ ...row, value: platform }))).sort((a, b) =>
      a.value < b.value ? -1 : 1,
    ),
    app_versions: distinctValues(newestFirst.map(({ app_version, ...row }) => ({ ...row, value: app_version }))).slice(
      0,
      MAX_VERSIONS,
    ),
    users,
  }
}

/** Distinct values with their applications, in the order of the rows. */
export function distinctValues(rows: Iterable<{ value: string | null; application_id: number }>): RecentValue[] {
  const applications = new Map<string, Set<number>>()
  for (const { value, application_id } of rows) {
    if (value) applications.set(value, (applications.get(value) ?? new Set()).add(application_id))
  }
  return [...applications].map(([value, ids]) => ({ value, application_ids: [...ids] }))
}

/** Loads users of the newest occurrences. No index contains the user, so only a fixed number of occurrences is read. */
async function loadRecentUsers({ database }: Context, application_id: number | null): Promise<RecentUser[]> {
  const { rows } = await sql<{ user_id: string | null; error_id: number }>`
    select newest.user_id, newest.error_id from (
      select id, error_id, user_id from faultboard_occurrences order by id desc limit ${sql.lit(MAX_RECENT_OCCURRENCES)}
    ) as newest
    ${application_id === null ? sql`` : sql`join faultboard_errors as e on e.id = newest.error_id and e.application_id = ${application_id}`}
    order by newest.id desc`.execute(database.read)
  const errors = new Map<string, Set<number>>()
  for (const { user_id, error_id } of rows) {
    if (user_id) errors.set(user_id, (errors.get(user_id) ?? new Set()).add(error_id))
  }
  return [...errors]
    .map(([value, { size }]) => ({ value, errors: size }))
    .sort((a, b) => b.errors - a.errors)
    .slice(0, MAX_USERS)
}

async function loadRecentValues({ database }: Context, application_id: number | null) {
  const { rows } = await sql<{
    platform: string
    app_version: string | null
    application_id: number
    occurred_at: number
  }>`
    select platform, app_version, application_id, max(occurred_at) as occurred_at from (
      select platform, app_version, application_id, occurred_at from faultboard_errors
      ${application_id === null ? sql`` : sql`where application_id = ${application_id}`}
      order by occurred_at desc limit ${sql.lit(MAX_RECENT_ERRORS)}
    ) as newest group by platform, app_version, application_id`.execute(database.read)
  return rows
}

/** All assignees, sorted by name and limited to 100. */
export async function listAssignees({ database }: Context, application_id: number | null): Promise<string[]> {
  const assignees = database.read
    .selectFrom('faultboard_errors')
    .select('assigned_to')
    .distinct()
    .where('assigned_to', 'is not', null)
    .limit(MAX_ASSIGNEES)
  // The index on `assigned_to` is far smaller than the index on the application.
  const column = withoutIndex(database.dialect, 'application_id')
  const rows = await (application_id === null ? assignees : assignees.where(column, '=', application_id)).execute()
  return rows.flatMap(({ assigned_to }) => assigned_to ?? []).sort()
}

/** All environments of one or all applications, sorted by name. */
export async function listEnvironments(
  { database }: Pick<Context, 'database'>,
  application_id: number | null,
): Promise<string[]> {
  return application_id === null ? allEnvironments(database) : loadEnvironments(database, [application_id])
}
