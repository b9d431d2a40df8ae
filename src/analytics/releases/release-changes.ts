import type { Context } from '../../context.js'
import { firstBy, type RankedError, withErrors } from '../ranked-errors.js'
import type { Scope } from '../sums/application-filter.js'
import { regressedIn } from './regressions.js'
import { type ReleaseCount, releaseCounts } from './release-counts.js'
import { releasesOfYear } from './release-sums.js'
import { previousReleases } from './releases.js'

/** An error of a release beside the release before it. */
export interface ChangedError extends RankedError {
  count: number
  before_count: number
}

export interface ReleaseChanges {
  application_id: number
  app_version: string
  first_seen_at: string
  /** The release before this one; null for the first of all. */
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
  /** Came back in this release after they had been resolved in an older one, and are not resolved again. */
  regressed_errors: RankedError[]
  regressed_count: number
  /** The releases to choose from, newest first. */
  versions: string[]
}

const MOST_VERSIONS = 50

/** What a release brought: new, gone and worse errors against the release before. Null while no version reports. */
export async function releaseChanges(
  context: Context,
  scope: Scope,
  wanted: string | undefined,
  limit: number,
): Promise<ReleaseChanges | null> {
  const all = await releasesOfYear(context, scope)
  const release = all.findLast(({ app_version }) => wanted === undefined || app_version === wanted)
  if (!release) return null
  const before = previousReleases(all).get(release) ?? null
  const regressed = await regressedIn(context, release)
  const counts = await releaseCounts(context, release, before)
  const groups = {
    new: counts.filter(({ is_new, count }) => is_new && count > 0),
    gone: counts.filter(({ count }) => count === 0),
    worse: counts.filter(({ is_new, count }) => !is_new && count > 0),
  }
  const shown = (rows: readonly ReleaseCount[], figure: (row: ReleaseCount) => number) =>
    withErrors(
      context,
      firstBy(rows, figure, limit).map(({ id, count, before_count }) => ({ id, count, before_count })),
    )
  return {
    application_id: release.application_id,
    app_version: release.app_version,
    first_seen_at: new Date(release.first_seen_at).toISOString(),
    before_version: before?.app_version ?? null,
    new_errors: await shown(groups.new, ({ count }) => count),
    new_count: groups.new.length,
    gone_errors: await shown(groups.gone, ({ before_count }) => before_count),
    gone_count: groups.gone.length,
    worse_errors: await shown(groups.worse, ({ count }) => count),
    worse_count: groups.worse.length,
    regressed_errors: await withErrors(context, regressed.slice(0, limit)),
    regressed_count: regressed.length,
    versions: [...new Set(all.map(({ app_version }) => app_version).reverse())].slice(0, MOST_VERSIONS),
  }
}
