import type { Context } from '../../context.js'
import { sql } from '../../store/kysely.js'
import { withoutIndex } from '../../store/sort-order.js'

export interface FilterChoices {
  platforms: string[]
  /** Those seen last come first. */
  app_versions: string[]
  assignees: string[]
}

/** Whoever looks for an older version or a platform that has gone quiet writes its name. */
const NEWEST_ERRORS = 1000
const MOST_VERSIONS = 20
const MOST_ASSIGNEES = 100

/** What the list's select boxes offer: of the errors that were seen last, and everybody who has one. */
export async function filterChoices(
  context: Context,
  application_id: number | null | undefined,
): Promise<FilterChoices> {
  await context.ready()
  const rows = await newest(context, application_id ?? null)
  const byTime = [...rows].sort((a, b) => b.occurred_at - a.occurred_at)
  const versions = new Set(byTime.flatMap(({ app_version }) => app_version ?? []))
  return {
    platforms: [...new Set(rows.map(({ platform }) => platform))].sort(),
    app_versions: [...versions].slice(0, MOST_VERSIONS),
    assignees: await knownAssignees(context, application_id ?? null),
  }
}

async function newest({ database }: Context, application_id: number | null) {
  const { rows } = await sql<{ platform: string; app_version: string | null; occurred_at: number }>`
    select platform, app_version, max(occurred_at) as occurred_at from (
      select platform, app_version, occurred_at from faultboard_errors
      ${application_id === null ? sql`` : sql`where application_id = ${application_id}`}
      order by occurred_at desc limit ${sql.lit(NEWEST_ERRORS)}
    ) as newest group by platform, app_version`.execute(database.read)
  return rows
}

/** Everybody who has an error, by name; of very many only some. */
export async function knownAssignees({ database }: Context, application_id: number | null): Promise<string[]> {
  const everybody = database.read
    .selectFrom('faultboard_errors')
    .select('assigned_to')
    .distinct()
    .where('assigned_to', 'is not', null)
    .limit(MOST_ASSIGNEES)
  // The index of those that have somebody is far shorter than one of the application.
  const column = withoutIndex(database.dialect, 'application_id')
  const rows = await (application_id === null ? everybody : everybody.where(column, '=', application_id)).execute()
  return rows.flatMap(({ assigned_to }) => assigned_to ?? []).sort()
}
