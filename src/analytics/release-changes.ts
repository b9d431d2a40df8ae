import type { Context } from '../context.js'
import { HOUR, hourOf } from '../model/time.js'
import { sql } from '../store/kysely.js'
import { hoursOfErrors } from './error-hours.js'
import type { Scope } from './hour-sums.js'
import { idRanges } from './id-ranges.js'
import { firstBy, type RankedError, withErrors } from './ranked-errors.js'
import { daysOf, type Release, releaseBefore, releases } from './releases.js'

/** An error of a release beside the release before it. */
export interface ChangedError extends RankedError {
  count: number
  before_count: number
}

export interface ReleaseChanges {
  application_id: number
  app_version: string
  first_seen_at: string
  /** The release first seen before this one; null for the first of all. */
  before_version: string | null
  /** First seen in this release. */
  new_errors: ChangedError[]
  new_count: number
  /** Seen in the release before, and not in this one. */
  gone_errors: ChangedError[]
  gone_count: number
  /** At least twice as often a day as in the release before. */
  worse_errors: ChangedError[]
  worse_count: number
  /** The releases to choose from, newest first. */
  versions: string[]
}

const MOST_VERSIONS = 50
const WORSE = 2
const LEAST_OCCURRENCES = 5
const NEVER = 1e12

/** What a release brought: new, gone and worse errors against the release before. Null while no version reports. */
export async function releaseChanges(
  context: Context,
  scope: Scope,
  wanted: string | undefined,
  limit: number,
): Promise<ReleaseChanges | null> {
  const all = await releases(context, scope)
  const release = all.findLast(({ app_version }) => wanted === undefined || app_version === wanted)
  if (!release) return null
  const before = releaseBefore(all, release)
  const counts = await countsOf(context, release, before)
  const groups = {
    new: counts.filter(({ is_new, count }) => is_new && count > 0),
    gone: counts.filter(({ count }) => count === 0),
    worse: counts.filter(({ is_new, count }) => !is_new && count > 0),
  }
  const shown = (rows: readonly Count[], figure: (row: Count) => number) =>
    withErrors(
      context,
      firstBy(rows, figure, limit).map(({ id, count, before_count }) => ({ id, count, before_count })),
    )
  return {
    application_id: release.application_id,
    app_version: release.app_version,
    first_seen_at: new Date(release.first_hour).toISOString(),
    before_version: before?.app_version ?? null,
    new_errors: await shown(groups.new, ({ count }) => count),
    new_count: groups.new.length,
    gone_errors: await shown(groups.gone, ({ before_count }) => before_count),
    gone_count: groups.gone.length,
    worse_errors: await shown(groups.worse, ({ count }) => count),
    worse_count: groups.worse.length,
    versions: [...new Set(all.map(({ app_version }) => app_version).reverse())].slice(0, MOST_VERSIONS),
  }
}

interface Count {
  id: number
  is_new: boolean
  count: number
  before_count: number
}

/** Only the errors that changed leave the database. */
async function countsOf(context: Context, release: Release, before: Release | null): Promise<Count[]> {
  const scope = { application_id: release.application_id }
  const span = {
    from: Math.min(release.first_hour, before?.first_hour ?? release.first_hour),
    to: hourOf(context.now()) + HOUR,
  }
  const threshold = before ? (WORSE * daysOf(release)) / daysOf(before) : NEVER
  const counted = (version: string) =>
    sql<number>`sum(case when ${sql.ref('h.app_version')} = ${version} then ${sql.ref('h.count')} else 0 end)`
  const found: Count[] = []
  for await (const range of idRanges(context)) {
    const counts = hoursOfErrors(context, scope, span, range)
      .select(['e.id', 'e.first_app_version', counted(release.app_version).as('count')])
      .select(counted(before?.app_version ?? release.app_version).as('before_count'))
      .where('h.app_version', 'in', before ? [release.app_version, before.app_version] : [release.app_version])
      .groupBy(['e.id', 'e.first_app_version'])
    const rows = await context.database.read
      .selectFrom(counts.as('c'))
      .selectAll()
      .where(({ eb, and, or }) =>
        or([
          eb('first_app_version', '=', release.app_version),
          eb('count', '=', 0),
          and([
            eb('before_count', '>', 0),
            eb('count', '>=', LEAST_OCCURRENCES),
            sql<boolean>`${sql.ref('count')} >= ${threshold} * ${sql.ref('before_count')}`,
          ]),
        ]),
      )
      .execute()
    for (const { id, first_app_version, count, before_count } of rows) {
      const is_new = first_app_version === release.app_version
      // Without a release before, nothing is known of what was there: only what is new can be told.
      if (before || is_new) found.push({ id, is_new, count, before_count: before ? before_count : 0 })
    }
  }
  return found
}
