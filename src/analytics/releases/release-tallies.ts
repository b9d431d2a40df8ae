import type { Context } from '../../context.js'
import { DAY, HOUR, hourOf } from '../../model/time.js'
import { sql } from '../../store/kysely.js'
import { hoursOf } from '../sums/application-filter.js'
import { MAX_DAYS } from '../sums/period.js'
import { isWorseBy, LEAST_OCCURRENCES, releaseCounts, worseFrom } from './release-counts.js'
import { type Release, releaseKey } from './releases.js'

/** How many errors of the release before are gone in a release, and how many are worse. */
export interface ReleaseTally {
  gone_count: number
  worse_count: number
}

export interface ReleasePair {
  release: Release
  before: Release
}

/** The same as the errors of `releaseCounts` counted, without taking them out of the database; by the release's key. */
export async function releaseTallies(
  context: Context,
  pairs: readonly ReleasePair[],
): Promise<Map<string, ReleaseTally>> {
  const older = await longReporting(context, pairs)
  const tallies = new Map<string, ReleaseTally>()
  for (const pair of pairs) {
    // The sums of an error in a version know no time; what tells of more than the last year is looked at one by one.
    const isLong = older.has(releaseKey(pair.release)) || older.has(releaseKey(pair.before))
    const tally = isLong ? await countedOneByOne(context, pair) : await tallyOf(context, pair)
    tallies.set(releaseKey(pair.release), tally)
  }
  return tallies
}

/** The keys of the releases that reported also outside the last year. */
async function longReporting(context: Context, pairs: readonly ReleasePair[]): Promise<Set<string>> {
  const { read } = context.database
  const to = hourOf(context.now()) + HOUR
  const hours = read
    .selectFrom('faultboard_application_hours')
    .where(({ eb, or }) => or([eb('hour', '<', to - MAX_DAYS * DAY), eb('hour', '>=', to)]))
  // Hardly any database knows more than a year: then nothing more is asked.
  const any = await hours
    .select('hour')
    .where(await hoursOf(context, undefined))
    .limit(1)
    .executeTakeFirst()
  if (pairs.length === 0 || !any) return new Set()
  const releases = pairs.flatMap(({ release, before }) => [release, before])
  const rows = await hours
    .select(['application_id', 'app_version'])
    .where('application_id', 'in', [...new Set(releases.map(({ application_id }) => application_id))])
    .where('app_version', 'in', [...new Set(releases.map(({ app_version }) => app_version))])
    .distinct()
    .execute()
  return new Set(rows.map(releaseKey))
}

async function tallyOf({ database }: Context, { release, before }: ReleasePair): Promise<ReleaseTally> {
  const { application_id } = release
  const errors = (table: string, version: string) =>
    sql`faultboard_error_versions ${sql.ref(table)} where ${sql.ref(`${table}.application_id`)} = ${application_id}
      and ${sql.ref(`${table}.app_version`)} = ${version}`
  const threshold = worseFrom(release, before)
  const { rows } = await sql<{ total: number; error_count: number; worse_count: number }>`select
    (select count(*) from (
      select a.error_id from ${errors('a', release.app_version)}
      union select b.error_id from ${errors('b', before.app_version)}) either) as total,
    (select count(*) from ${errors('a', release.app_version)}) as error_count,
    (select count(*) from faultboard_error_versions b, ${errors('a', release.app_version)}
      and b.error_id = a.error_id and b.application_id = ${application_id} and b.app_version = ${before.app_version}
      and ${sql.ref('a.count')} >= ${LEAST_OCCURRENCES} and ${isWorseBy(threshold)}
      and a.error_id not in (select id from faultboard_errors where first_app_version = ${release.app_version})
    ) as worse_count`.execute(database.read)
  const { total, error_count, worse_count } = rows[0] ?? { total: 0, error_count: 0, worse_count: 0 }
  // Every database unites two lists quickly, but only some can subtract them.
  return { gone_count: total - error_count, worse_count }
}

async function countedOneByOne(context: Context, { release, before }: ReleasePair): Promise<ReleaseTally> {
  const counts = await releaseCounts(context, release, before)
  return {
    gone_count: counts.filter(({ count }) => count === 0).length,
    worse_count: counts.filter(({ is_new, count }) => !is_new && count > 0).length,
  }
}
