import * as v from 'valibot'
import { clampedInteger, withDefault } from '../../model/input.js'
import { defineOperation } from '../../operation.js'
import { type StabilityStatus, stabilityScore, stabilityStatus } from '../stability-score.js'
import { share } from '../statistics.js'
import { type PeriodView, periodInput, periodOf, periodView } from '../sums/period.js'
import { type NewErrors, newErrors } from './new-errors.js'
import { regressionCounts } from './regressions.js'
import { releaseDays } from './release-days.js'
import { releasesIn, releasesOfYear } from './release-sums.js'
import { type ReleaseTally, releaseTallies } from './release-tallies.js'
import {
  type DatedRelease,
  daysOf,
  previousReleases,
  type Release,
  releaseKey,
  type SeverityCounts,
} from './releases.js'

export const RELEASE_DAYS = 30
const RELEASES_PER_PAGE = 20
/** The trend tells which releases still report; older days would cost more than they say. */
const TREND_DAYS = 14

/** A version that reported in the period. */
export interface ListedRelease {
  application_id: number
  app_version: string
  /** The release of the same application before it; null for the first of all. */
  before_version: string | null
  first_seen_at: string
  /** The hour of its last occurrence. */
  last_seen_at: string
  /** Of the period. */
  occurrences: number
  share: number
  severities: SeverityCounts
  /** Of the whole time for which it reported, within the last year. */
  per_day: number
  /** Occurrences on each of `trend_dates`. */
  trend: number[]
  /** Errors whose first occurrence ever was in this version, and those of them that are still open. */
  new_count: number
  open_new_count: number
  /** Errors that came back in this version after they had been resolved in an older one. */
  regressed_count: number
  /** Against the release before, as in `ReleaseChanges`. */
  gone_count: number
  worse_count: number
  stability_score: number
  status: StabilityStatus
}

export interface ReleaseList {
  period: PeriodView
  /** Local dates, today last. */
  trend_dates: string[]
  /** Newest first. */
  releases: ListedRelease[]
  pagination: { page: number; per_page: number; total_count: number; total_pages: number }
}

export const releaseListInput = v.object({
  ...periodInput.entries,
  page: withDefault(clampedInteger({ min: 1, max: 1_000_000_000 }), 1),
})

/** The versions that reported in the last days, newest first, each with what it brought. */
export const releaseList = defineOperation({
  input: releaseListInput,
  async run(context, { days = RELEASE_DAYS, application_id, page }): Promise<ReleaseList> {
    const scope = { application_id }
    const period = periodOf(context, days)
    const all = await releasesOfYear(context, scope)
    const inPeriod = await releasesIn(context, scope, period)
    const seen = new Map(inPeriod.map((release) => [releaseKey(release), release]))
    const listed = all.filter((release) => seen.has(releaseKey(release))).reverse()
    const pagination = pageOf(listed.length, page)
    const start = (pagination.page - 1) * RELEASES_PER_PAGE
    const shown = listed.slice(start, start + RELEASES_PER_PAGE)
    const trend = periodOf(context, Math.min(days, TREND_DAYS))
    const previousOf = previousReleases(all)
    const pairs = shown.flatMap((release) => {
      const before = previousOf.get(release)
      return before ? [{ release, before }] : []
    })
    const known = {
      tallies: await releaseTallies(context, pairs),
      whole: inPeriod.reduce((sum, { occurrences }) => sum + occurrences, 0),
      trends: await releaseDays(context, scope, trend, shown),
      news: await newErrors(context, shown),
      regressions: await regressionCounts(context, scope),
    }
    const releases = shown.map((release) => {
      const now = seen.get(releaseKey(release)) ?? release
      return listedRelease({ release, now, before: previousOf.get(release) ?? null, ...known })
    })
    return { period: periodView(period, context.now()), trend_dates: trend.dates, releases, pagination }
  },
})

interface Known {
  release: DatedRelease
  /** The same within the period. */
  now: Release
  before: DatedRelease | null
  whole: number
  tallies: Map<string, ReleaseTally>
  trends: Map<string, number[]>
  news: Map<string, NewErrors>
  regressions: Map<string, number>
}

function listedRelease(known: Known): ListedRelease {
  const { release, now, before } = known
  const key = releaseKey(release)
  const { new_count, open_new_count } = known.news.get(key) ?? { new_count: 0, open_new_count: 0 }
  const per_day = perDay(release)
  const stability_score = stabilityScore({
    severities: release.severities,
    open_share: share(open_new_count, new_count),
    growth: before ? per_day / perDay(before) - 1 : null,
  })
  return {
    application_id: release.application_id,
    app_version: release.app_version,
    before_version: before?.app_version ?? null,
    first_seen_at: new Date(release.first_seen_at).toISOString(),
    last_seen_at: new Date(release.last_hour).toISOString(),
    occurrences: now.occurrences,
    share: share(now.occurrences, known.whole),
    severities: now.severities,
    per_day,
    trend: known.trends.get(key) ?? [],
    new_count,
    open_new_count,
    regressed_count: known.regressions.get(key) ?? 0,
    ...(known.tallies.get(key) ?? { gone_count: 0, worse_count: 0 }),
    stability_score,
    status: stabilityStatus(stability_score),
  }
}

function perDay(release: Release): number {
  return release.occurrences / daysOf(release)
}

function pageOf(total_count: number, wanted: number): ReleaseList['pagination'] {
  const total_pages = Math.max(1, Math.ceil(total_count / RELEASES_PER_PAGE))
  return { page: Math.min(wanted, total_pages), per_page: RELEASES_PER_PAGE, total_count, total_pages }
}
