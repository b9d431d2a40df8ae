import type * as v from 'valibot'
import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { share } from '../statistics.js'
import { elapsedDays, type Period, type Span } from '../sums/period.js'
import { errorIdInEnvironment, errorsInScope } from '../sums/scope-conditions.js'
import { releasesIn, releasesOfYear } from './release-sums.js'
import { lifetimeDays, releaseKey, SeverityCounts } from './releases.js'

export const VersionFigures = r.object({
  application_id: r.integer,
  app_version: r.text,
  occurrences: r.integer,
  /** Share of the occurrences of all versions in the period. */
  share: r.number,
  /** Occurrences per day between the first and the last occurrence in the period. Counts at least one day. */
  per_day: r.number,
  severities: SeverityCounts,
  /** Errors first seen in this version. */
  new_error_count: r.integer,
  first_seen_at: r.time,
  /** Hour of the last occurrence. */
  last_seen_at: r.time,
})
export type VersionFigures = v.InferOutput<typeof VersionFigures>

export const VersionErrors = r.object({
  ...VersionFigures.entries,
  /** Errors with occurrences in this version within the period. */
  error_count: r.integer,
})
export type VersionErrors = v.InferOutput<typeof VersionErrors>

/** Versions with occurrences in the period, newest first, with their number of errors. */
export async function versionErrors(context: Context, scope: Scope, period: Period): Promise<VersionErrors[]> {
  const versions = await versionFigures(context, scope, period)
  const errors = await countErrors(context, scope, versions, period)
  return versions.map((version) => ({
    ...version,
    error_count: errors.get(releaseKey(version)) ?? 0,
  }))
}

/** Maximum number of versions, newest first. Some hosts use one version per build. */
const MAX_VERSIONS = 500

/** Like `versionErrors` without the number of errors, which is the slowest part. */
export async function versionFigures(context: Context, scope: Scope, period: Period): Promise<VersionFigures[]> {
  const inPeriod = new Map((await releasesIn(context, scope, period)).map((release) => [releaseKey(release), release]))
  const totalOccurrences = [...inPeriod.values()].reduce((sum, { occurrences }) => sum + occurrences, 0)
  const newErrorCountByRelease = await countNewErrorsByRelease(context, scope)
  const newestFirst = (await releasesOfYear(context, scope)).reverse()
  const figures = newestFirst.flatMap((release): VersionFigures[] => {
    const { application_id, app_version } = release
    const seen = inPeriod.get(releaseKey(release))
    if (!seen) return []
    return [
      {
        application_id,
        app_version,
        occurrences: seen.occurrences,
        share: share(seen.occurrences, totalOccurrences),
        per_day: seen.occurrences / Math.min(lifetimeDays(seen), Math.max(1, elapsedDays(period))),
        severities: seen.severities,
        new_error_count: newErrorCountByRelease.get(releaseKey(release)) ?? 0,
        first_seen_at: new Date(release.first_seen_at).toISOString(),
        last_seen_at: new Date(release.last_hour).toISOString(),
      },
    ]
  })
  return figures.slice(0, MAX_VERSIONS)
}

async function countErrors(
  context: Context,
  { environment }: Scope,
  versions: readonly VersionFigures[],
  period: Period,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const application_id of new Set(versions.map((version) => version.application_id))) {
    const own = versions.filter((version) => version.application_id === application_id)
    const names = own.map(({ app_version }) => app_version)
    for (const { app_version, error_count } of await loadErrorCounts(
      context,
      { application_id, environment },
      names,
      period,
    )) {
      counts.set(releaseKey({ application_id, app_version }), error_count)
    }
  }
  return counts
}

/** Checks single hours only for errors seen in a version both before and after the span. */
async function loadErrorCounts(
  context: Context,
  scope: Scope & { application_id: number },
  names: readonly string[],
  { from, to }: Span,
) {
  return context.database.read
    .selectFrom('faultboard_error_versions as v')
    .select(({ fn }) => ['v.app_version', fn.countAll<number>().as('error_count')])
    .where('v.application_id', '=', scope.application_id)
    .where('v.app_version', 'in', names)
    .where('v.last_hour', '>=', from)
    .where('v.first_hour', '<', to)
    .where(errorIdInEnvironment(context, 'v.error_id', scope))
    .where(({ eb, or, exists, selectFrom }) =>
      or([
        eb('v.first_hour', '>=', from),
        eb('v.last_hour', '<', to),
        exists(
          selectFrom('faultboard_error_hours as h')
            .select('h.hour')
            .whereRef('h.error_id', '=', 'v.error_id')
            .whereRef('h.app_version', '=', 'v.app_version')
            .where('h.hour', '>=', from)
            .where('h.hour', '<', to),
        ),
      ]),
    )
    .groupBy('v.app_version')
    .execute()
}

/** Counts errors first seen in each release, by release key. */
export async function countNewErrorsByRelease(context: Context, scope: Scope): Promise<Map<string, number>> {
  const rows = await context.database.read
    .selectFrom('faultboard_errors')
    .select(({ fn }) => ['application_id', 'first_app_version', fn.countAll<number>().as('error_count')])
    .where(errorsInScope(context, scope))
    .groupBy(['first_app_version', 'application_id'])
    .execute()
  return new Map(
    rows.map(({ application_id, first_app_version, error_count }) => [
      releaseKey({ application_id, app_version: first_app_version ?? '' }),
      error_count,
    ]),
  )
}
