import type { Context } from '../context.js'
import { sql } from '../store/kysely.js'
import { hoursOfErrors } from './error-hours.js'
import { type Scope, versionSums } from './hour-sums.js'
import { idRanges } from './id-ranges.js'
import { elapsedDays, type Period } from './period.js'
import { daysOf, releaseKey, releases, releasesOf, type SeverityCounts } from './releases.js'
import { share } from './statistics.js'

export interface VersionFigures {
  application_id: number
  app_version: string
  occurrences: number
  /** Part of the occurrences of all versions in the period. */
  share: number
  /** Per day of the period in which it reported, at least one. */
  per_day: number
  severities: SeverityCounts
  /** Errors whose first occurrence ever was in this version. */
  new_error_count: number
  /** The hours of its first and last occurrence in the last year. */
  first_seen_at: string
  last_seen_at: string
}

export interface VersionErrors extends VersionFigures {
  /** Errors that occurred in this version within the period. */
  error_count: number
}

/** The versions that reported in the period, newest first by first sight, with how many errors each met. */
export async function versionErrors(context: Context, scope: Scope, period: Period): Promise<VersionErrors[]> {
  const errors = await errorCounts(context, scope, period)
  return (await versionFigures(context, scope, period)).map((version) => ({
    ...version,
    error_count: errors.get(releaseKey(version)) ?? 0,
  }))
}

/** The same without the number of errors, which takes by far the longest. */
export async function versionFigures(context: Context, scope: Scope, period: Period): Promise<VersionFigures[]> {
  const inPeriod = new Map(
    releasesOf(await versionSums(context, scope, period)).map((release) => [releaseKey(release), release]),
  )
  const whole = [...inPeriod.values()].reduce((sum, { occurrences }) => sum + occurrences, 0)
  const news = await newErrorCounts(context, scope)
  return (await releases(context, scope)).reverse().flatMap((release): VersionFigures[] => {
    const { application_id, app_version } = release
    const seen = inPeriod.get(releaseKey(release))
    if (!seen) return []
    return [
      {
        application_id,
        app_version,
        occurrences: seen.occurrences,
        share: share(seen.occurrences, whole),
        per_day: seen.occurrences / Math.min(daysOf(seen), Math.max(1, elapsedDays(period))),
        severities: seen.severities,
        new_error_count: news.get(releaseKey(release)) ?? 0,
        first_seen_at: new Date(release.first_hour).toISOString(),
        last_seen_at: new Date(release.last_hour).toISOString(),
      },
    ]
  })
}

async function errorCounts(context: Context, scope: Scope, period: Period): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for await (const range of idRanges(context)) {
    const pairs = hoursOfErrors(context, scope, period, range)
      .select(['e.id', 'e.application_id', 'h.app_version'])
      .distinct()
    const rows = await context.database.read
      .selectFrom(pairs.as('p'))
      .select(({ fn }) => ['application_id', 'app_version', fn.countAll<number>().as('error_count')])
      .groupBy(['application_id', 'app_version'])
      .execute()
    for (const row of rows) counts.set(releaseKey(row), (counts.get(releaseKey(row)) ?? 0) + row.error_count)
  }
  return counts
}

/** How many errors were first seen in each release, by its key. */
export async function newErrorCounts({ database }: Context, { application_id }: Scope): Promise<Map<string, number>> {
  // All rows in their order are read sooner than through an index: the plus sign keeps it out.
  const owner = sql<number>`+${sql.ref('application_id')}`
  const rows = await database.read
    .selectFrom('faultboard_errors')
    .select(({ fn }) => [owner.as('owner_id'), 'first_app_version', fn.countAll<number>().as('error_count')])
    .$if(application_id !== undefined, (query) => query.where(owner, '=', application_id ?? 0))
    .groupBy(['owner_id', 'first_app_version'])
    .execute()
  return new Map(
    rows.map(({ owner_id, first_app_version, error_count }) => [
      releaseKey({ application_id: Number(owner_id), app_version: first_app_version ?? '' }),
      error_count,
    ]),
  )
}
