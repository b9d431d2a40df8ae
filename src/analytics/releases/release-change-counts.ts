import type { Context } from '../../context.js'
import { ALL_ERRORS, type Scope } from '../../model/input/scope.js'
import { DAY, HOUR, startOfHour } from '../../model/time.js'
import { sql } from '../../store/kysely.js'
import { MAX_DAYS } from '../sums/period.js'
import { errorIdInEnvironment, hoursInScope } from '../sums/scope-conditions.js'
import { exceedsThreshold, MIN_OCCURRENCES, minWorseRatio, releaseCounts } from './release-counts.js'
import { type Release, releaseKey } from './releases.js'

/** Number of errors of the previous release that are gone or worse in a release. */
export interface ChangeCounts {
  gone_count: number
  worse_count: number
}

export interface ReleasePair {
  release: Release
  before: Release
}

/** Counts the errors that `releaseCounts` would return, by release key. Counts them in the database. */
export async function countChanges(
  context: Context,
  { environment }: Scope,
  pairs: readonly ReleasePair[],
): Promise<Map<string, ChangeCounts>> {
  const longLived = await findLongLived(context, pairs)
  const changeCounts = new Map<string, ChangeCounts>()
  for (const pair of pairs) {
    // Sums per error and version have no time dimension. Releases with data older than a year are compared error by
    // error.
    const isLongLived = longLived.has(releaseKey(pair.release)) || longLived.has(releaseKey(pair.before))
    const changes = isLongLived
      ? await countErrorByError(context, environment, pair)
      : await countInDatabase(context, environment, pair)
    changeCounts.set(releaseKey(pair.release), changes)
  }
  return changeCounts
}

/** Keys of releases with occurrences outside the last year. */
async function findLongLived(context: Context, pairs: readonly ReleasePair[]): Promise<Set<string>> {
  const { read } = context.database
  const to = startOfHour(context.now()) + HOUR
  const hours = read
    .selectFrom('faultboard_application_hours')
    .where(({ eb, or }) => or([eb('hour', '<', to - MAX_DAYS * DAY), eb('hour', '>=', to)]))
  // Most databases contain less than a year of data and skip the second query.
  const olderHour = await hours
    .select('hour')
    .where(await hoursInScope(context, ALL_ERRORS))
    .limit(1)
    .executeTakeFirst()
  if (pairs.length === 0 || !olderHour) return new Set()
  const releases = pairs.flatMap(({ release, before }) => [release, before])
  const rows = await hours
    .select(['application_id', 'app_version'])
    .where('application_id', 'in', [...new Set(releases.map(({ application_id }) => application_id))])
    .where('app_version', 'in', [...new Set(releases.map(({ app_version }) => app_version))])
    .distinct()
    .execute()
  return new Set(rows.map(releaseKey))
}

async function countInDatabase(
  context: Context,
  environment: string | undefined,
  { release, before }: ReleasePair,
): Promise<ChangeCounts> {
  const { application_id } = release
  const errors = (table: string, version: string) =>
    sql`faultboard_error_versions ${sql.ref(table)} where ${sql.ref(`${table}.application_id`)} = ${application_id}
      and ${sql.ref(`${table}.app_version`)} = ${version}
      and ${errorIdInEnvironment(context, `${table}.error_id`, { environment })}`
  const threshold = minWorseRatio(release, before)
  const { rows } = await sql<{ total: number; error_count: number; worse_count: number }>`select
    (select count(*) from (
      select a.error_id from ${errors('a', release.app_version)}
      union select b.error_id from ${errors('b', before.app_version)}) either) as total,
    (select count(*) from ${errors('a', release.app_version)}) as error_count,
    (select count(*) from faultboard_error_versions b, ${errors('a', release.app_version)}
      and b.error_id = a.error_id and b.application_id = ${application_id} and b.app_version = ${before.app_version}
      and ${sql.ref('a.count')} >= ${MIN_OCCURRENCES} and ${exceedsThreshold(threshold)}
      and a.error_id not in (select id from faultboard_errors where first_app_version = ${release.app_version})
    ) as worse_count`.execute(context.database.read)
  const { total, error_count, worse_count } = rows[0] ?? { total: 0, error_count: 0, worse_count: 0 }
  // Derived from a union, because not every database supports `except`.
  return { gone_count: total - error_count, worse_count }
}

async function countErrorByError(
  context: Context,
  environment: string | undefined,
  { release, before }: ReleasePair,
): Promise<ChangeCounts> {
  const counts = await releaseCounts(context, { release, before, environment, isPrevious: true })
  return {
    gone_count: counts.filter(({ count }) => count === 0).length,
    worse_count: counts.filter(({ is_new, count }) => !is_new && count > 0).length,
  }
}
