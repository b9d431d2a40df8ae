import type * as v from 'valibot'
import type { Context } from '../../context.js'
import { TrackerError } from '../../model/errors.js'
import type { Scope } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { RankedError, topBy, withErrors } from '../ranked-errors.js'
import { findRegressedErrors } from './regressions.js'
import { type ReleaseCount, releaseCounts } from './release-counts.js'
import { releasesOfYear } from './release-sums.js'
import { previousReleases, type Release } from './releases.js'

/** Error compared between a release and its predecessor. */
export const ChangedError = r.named(
  'ChangedError',
  r.object({
    ...RankedError.entries,
    count: r.integer,
    before_count: r.integer,
  }),
)
export type ChangedError = v.InferOutput<typeof ChangedError>

export const ReleaseChanges = r.named(
  'ReleaseChanges',
  r.object({
    application_id: r.integer,
    app_version: r.text,
    first_seen_at: r.time,
    /** Release to compare with, by default the previous release. Null for the first release. */
    before_version: r.nullable(r.text),
    /** First seen in this release. When the compared release is not the previous release: not seen in that release. */
    new_errors: r.list(ChangedError),
    new_count: r.integer,
    /** Seen in the previous release, but not in this release. */
    gone_errors: r.list(ChangedError),
    gone_count: r.integer,
    /** At least twice as often per day as in the previous release. */
    worse_errors: r.list(ChangedError),
    worse_count: r.integer,
    /** Regressed in this release and still unresolved. */
    regressed_errors: r.list(RankedError),
    regressed_count: r.integer,
    /** Selectable releases, newest first. */
    versions: r.list(r.text),
    /** Releases of the same application to compare with, newest first. */
    comparable_versions: r.list(r.text),
  }),
)
export type ReleaseChanges = v.InferOutput<typeof ReleaseChanges>

const MAX_VERSIONS = 50
/** Older releases can still be compared by URL. */
const MAX_COMPARABLE_VERSIONS = 200

/**
 * Compares a release with its predecessor, or with the version `compareWith`: new, gone, worse and regressed errors. Null
 * if no version has been reported.
 */
export async function releaseChanges(
  context: Context,
  scope: Scope,
  requestedVersion: string | undefined,
  limit: number,
  compareWith?: string,
): Promise<ReleaseChanges | null> {
  const all = await releasesOfYear(context, scope)
  const release = all.findLast(({ app_version }) => requestedVersion === undefined || app_version === requestedVersion)
  if (!release) return null
  const previous = previousReleases(all).get(release) ?? null
  const others = all.filter((other) => other !== release && other.application_id === release.application_id)
  const before = compareWith === undefined ? previous : findRelease(others, compareWith, release)
  const { environment } = scope
  const { application_id } = release
  const regressed = await findRegressedErrors(context, { application_id, environment }, release.app_version)
  const counts = await releaseCounts(context, { release, before, environment, isPrevious: before === previous })
  const groups = {
    new: counts.filter(({ is_new, count }) => is_new && count > 0),
    gone: counts.filter(({ count }) => count === 0),
    worse: counts.filter(({ is_new, count }) => !is_new && count > 0),
  }
  const topErrors = (rows: readonly ReleaseCount[], figure: (row: ReleaseCount) => number) =>
    withErrors(
      context,
      topBy(rows, figure, limit).map(({ id, count, before_count }) => ({ id, count, before_count })),
    )
  return {
    application_id: release.application_id,
    app_version: release.app_version,
    first_seen_at: new Date(release.first_seen_at).toISOString(),
    before_version: before?.app_version ?? null,
    new_errors: await topErrors(groups.new, ({ count }) => count),
    new_count: groups.new.length,
    gone_errors: await topErrors(groups.gone, ({ before_count }) => before_count),
    gone_count: groups.gone.length,
    worse_errors: await topErrors(groups.worse, ({ count }) => count),
    worse_count: groups.worse.length,
    regressed_errors: await withErrors(context, regressed.slice(0, limit)),
    regressed_count: regressed.length,
    versions: [...new Set(all.map(({ app_version }) => app_version).reverse())].slice(0, MAX_VERSIONS),
    comparable_versions: others
      .map(({ app_version }) => app_version)
      .reverse()
      .slice(0, MAX_COMPARABLE_VERSIONS),
  }
}

function findRelease<Item extends Release>(others: readonly Item[], version: string, release: Item): Item {
  if (version === release.app_version) {
    throw new TrackerError('invalid_input', 'compare_with must differ from app_version')
  }
  const found = others.find(({ app_version }) => app_version === version)
  if (found) return found
  throw new TrackerError(
    'not_found',
    `Cannot compare with ${version}: the application has no errors with this version in the last year.`,
  )
}
