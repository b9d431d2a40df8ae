import type { Context } from '../../context.js'
import { share } from '../statistics.js'
import type { Scope } from '../sums/application-filter.js'
import type { Period } from '../sums/period.js'
import { releasesOfYear } from './release-sums.js'
import { type DatedRelease, daysOf, previousReleases, releaseKey } from './releases.js'
import { newErrorCounts } from './version-errors.js'

export type ReleaseProblem = 'more_occurrences' | 'more_severe' | 'more_new_errors'

/** A release of the period that is worse than the release before it, and in what. */
export interface ProblematicRelease extends ReleaseFigures {
  reasons: ReleaseProblem[]
  before: ReleaseFigures
}

/** Of the whole time for which the release reported, within the last year. */
export interface ReleaseFigures {
  application_id: number
  app_version: string
  first_seen_at: string
  occurrences: number
  per_day: number
  /** Part of the occurrences that were critical or high. */
  severe_share: number
  new_error_count: number
}

export const MORE_OCCURRENCES = 1.5
export const MORE_SEVERE = 0.1
export const MORE_NEW_ERRORS = 2
/** Fewer occurrences or new errors say nothing. */
export const LEAST_OCCURRENCES = 10
export const LEAST_NEW_ERRORS = 3

/** Releases first seen in the period that do worse than the release before, newest first. */
export async function problematicReleases(
  context: Context,
  scope: Scope,
  { from }: Period,
): Promise<ProblematicRelease[]> {
  const all = await releasesOfYear(context, scope)
  const news = await newErrorCounts(context, scope)
  const previousOf = previousReleases(all)
  const figures = (release: DatedRelease): ReleaseFigures => ({
    application_id: release.application_id,
    app_version: release.app_version,
    first_seen_at: new Date(release.first_seen_at).toISOString(),
    occurrences: release.occurrences,
    per_day: release.occurrences / daysOf(release),
    severe_share: share(release.severities.critical + release.severities.high, release.occurrences),
    new_error_count: news.get(releaseKey(release)) ?? 0,
  })
  return all
    .flatMap((release): ProblematicRelease[] => {
      const previous = previousOf.get(release)
      if (!previous || release.first_seen_at < from) return []
      const [now, before] = [figures(release), figures(previous)]
      const reasons = reasonsOf(now, before)
      return reasons.length === 0 ? [] : [{ ...now, reasons, before }]
    })
    .reverse()
}

function reasonsOf(now: ReleaseFigures, before: ReleaseFigures): ReleaseProblem[] {
  const reasons: ReleaseProblem[] = []
  if (now.occurrences >= LEAST_OCCURRENCES) {
    if (now.per_day >= MORE_OCCURRENCES * before.per_day) reasons.push('more_occurrences')
    if (now.severe_share >= before.severe_share + MORE_SEVERE) reasons.push('more_severe')
  }
  if (now.new_error_count >= LEAST_NEW_ERRORS && now.new_error_count >= MORE_NEW_ERRORS * before.new_error_count)
    reasons.push('more_new_errors')
  return reasons
}
