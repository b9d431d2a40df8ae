import type * as v from 'valibot'
import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { share } from '../statistics.js'
import type { Period } from '../sums/period.js'
import { releasesOfYear } from './release-sums.js'
import { type DatedRelease, lifetimeDays, previousReleases, releaseKey } from './releases.js'
import { countNewErrorsByRelease } from './version-errors.js'

const RELEASE_PROBLEMS = ['more_occurrences', 'more_severe', 'more_new_errors'] as const
export type ReleaseProblem = (typeof RELEASE_PROBLEMS)[number]

/** Covers the whole lifetime of the release within the last year. */
const ReleaseFigures = r.object({
  application_id: r.integer,
  app_version: r.text,
  first_seen_at: r.time,
  occurrences: r.integer,
  per_day: r.number,
  /** Share of critical and high occurrences. */
  severe_share: r.number,
  new_error_count: r.integer,
})
type ReleaseFigures = v.InferOutput<typeof ReleaseFigures>

/** Release of the period that is worse than its predecessor, with the reasons. */
export const ProblematicRelease = r.object({
  ...ReleaseFigures.entries,
  reasons: r.list(r.oneOf(RELEASE_PROBLEMS)),
  before: ReleaseFigures,
})
export type ProblematicRelease = v.InferOutput<typeof ProblematicRelease>

export const OCCURRENCE_RATIO = 1.5
export const SEVERE_SHARE_INCREASE = 0.1
export const NEW_ERROR_RATIO = 2
/** Smaller numbers are not significant. */
export const MIN_OCCURRENCES = 10
export const MIN_NEW_ERRORS = 3

/** Releases first seen in the period that are worse than their predecessor, newest first. */
export async function problematicReleases(
  context: Context,
  scope: Scope,
  { from }: Period,
): Promise<ProblematicRelease[]> {
  const all = await releasesOfYear(context, scope)
  const newErrorCountByRelease = await countNewErrorsByRelease(context, scope)
  const previousByRelease = previousReleases(all)
  const figures = (release: DatedRelease): ReleaseFigures => ({
    application_id: release.application_id,
    app_version: release.app_version,
    first_seen_at: new Date(release.first_seen_at).toISOString(),
    occurrences: release.occurrences,
    per_day: release.occurrences / lifetimeDays(release),
    severe_share: share(release.severities.critical + release.severities.high, release.occurrences),
    new_error_count: newErrorCountByRelease.get(releaseKey(release)) ?? 0,
  })
  return all
    .flatMap((release): ProblematicRelease[] => {
      const previous = previousByRelease.get(release)
      if (!previous || release.first_seen_at < from) return []
      const [now, before] = [figures(release), figures(previous)]
      const reasons = findReasons(now, before)
      return reasons.length === 0 ? [] : [{ ...now, reasons, before }]
    })
    .reverse()
}

function findReasons(now: ReleaseFigures, before: ReleaseFigures): ReleaseProblem[] {
  const reasons: ReleaseProblem[] = []
  if (now.occurrences >= MIN_OCCURRENCES) {
    if (now.per_day >= OCCURRENCE_RATIO * before.per_day) reasons.push('more_occurrences')
    if (now.severe_share >= before.severe_share + SEVERE_SHARE_INCREASE) reasons.push('more_severe')
  }
  if (now.new_error_count >= MIN_NEW_ERRORS && now.new_error_count >= NEW_ERROR_RATIO * before.new_error_count)
    reasons.push('more_new_errors')
  return reasons
}
