import * as v from 'valibot'
import type { Context } from '../../context.js'
import { clampedInteger, withDefault } from '../../model/input/input.js'
import type { Scope } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { defineOperation } from '../../operation.js'
import { withoutIndex } from '../../store/sql/sort-order.js'
import { STABILITY_STATUSES, stabilityScore, stabilityStatus } from '../stability-score.js'
import { share } from '../statistics.js'
import { localDay } from '../sums/local-day.js'
import { isoDate, lastDaysPeriod, type Period, PeriodView, periodInput, periodView } from '../sums/period.js'
import { hoursInScope } from '../sums/scope-conditions.js'
import { countRegressions } from './regressions.js'
import { type ChangeCounts, countChanges } from './release-change-counts.js'
import { releasesIn, releasesOfYear } from './release-sums.js'
import {
  type DatedRelease,
  lifetimeDays,
  previousReleases,
  type Release,
  releaseKey,
  SeverityCounts,
} from './releases.js'

export const RELEASE_DAYS = 30
const RELEASES_PER_PAGE = 20
/** Two weeks show which releases still report errors. A longer trend would slow the query. */
const TREND_DAYS = 14

/** Version with occurrences in the period. */
export const ListedRelease = r.object({
  application_id: r.integer,
  app_version: r.text,
  /** Previous release of the same application; null for the first. */
  before_version: r.nullable(r.text),
  first_seen_at: r.time,
  /** Hour of the last occurrence. */
  last_seen_at: r.time,
  /** Occurrences in the period. */
  occurrences: r.integer,
  share: r.number,
  severities: SeverityCounts,
  /** Daily rate over the lifetime of the release, within the last year. */
  per_day: r.number,
  /** Occurrences on each of `trend_dates`. */
  trend: r.list(r.integer),
  /** Errors first seen in this version, and how many of them are still open. */
  new_count: r.integer,
  open_new_count: r.integer,
  /** Errors that regressed in this version. */
  regressed_count: r.integer,
  /** Errors compared with the previous release, as in `ReleaseChanges`. */
  gone_count: r.integer,
  worse_count: r.integer,
  stability_score: r.number,
  status: r.oneOf(STABILITY_STATUSES),
})
export type ListedRelease = v.InferOutput<typeof ListedRelease>

export const ReleaseList = r.object({
  period: PeriodView,
  /** Local dates, oldest first. */
  trend_dates: r.list(r.day),
  /** Newest first. */
  releases: r.list(ListedRelease),
  pagination: r.PlainPagination,
})
export type ReleaseList = v.InferOutput<typeof ReleaseList>

export const releaseListInput = v.object({
  ...periodInput.entries,
  page: withDefault(clampedInteger({ min: 1, max: 1_000_000_000 }), 1),
})

/** Lists versions with occurrences in the last days, newest first, with their changes. */
export const releaseList = defineOperation({
  input: releaseListInput,
  async run(context, { days = RELEASE_DAYS, application_id, environment, page }): Promise<ReleaseList> {
    const scope = { application_id, environment }
    const period = lastDaysPeriod(context, days)
    const all = await releasesOfYear(context, scope)
    const inPeriod = await releasesIn(context, scope, period)
    const seen = new Map(inPeriod.map((release) => [releaseKey(release), release]))
    const listed = all.filter((release) => seen.has(releaseKey(release))).reverse()
    const pagination = paginate(listed.length, page)
    const start = (pagination.page - 1) * RELEASES_PER_PAGE
    const shown = listed.slice(start, start + RELEASES_PER_PAGE)
    const trend = lastDaysPeriod(context, Math.min(days, TREND_DAYS))
    const previousByRelease = previousReleases(all)
    const pairs = shown.flatMap((release) => {
      const before = previousByRelease.get(release)
      return before ? [{ release, before }] : []
    })
    const shared = {
      changeCounts: await countChanges(context, scope, pairs),
      totalOccurrences: inPeriod.reduce((sum, { occurrences }) => sum + occurrences, 0),
      trends: await countByDay(context, scope, trend, shown),
      newErrors: await countNewErrors(context, scope, shown),
      regressions: await countRegressions(context, scope),
    }
    const releases = shown.map((release) => {
      const now = seen.get(releaseKey(release)) ?? release
      return listedRelease({ release, now, before: previousByRelease.get(release) ?? null, ...shared })
    })
    return { period: periodView(period, context.now()), trend_dates: trend.dates, releases, pagination }
  },
})

interface ReleaseInput {
  release: DatedRelease
  /** Figures within the period. */
  now: Release
  before: DatedRelease | null
  totalOccurrences: number
  changeCounts: Map<string, ChangeCounts>
  trends: Map<string, number[]>
  newErrors: Map<string, NewErrors>
  regressions: Map<string, number>
}

function listedRelease(input: ReleaseInput): ListedRelease {
  const { release, now, before } = input
  const key = releaseKey(release)
  const { new_count, open_new_count } = input.newErrors.get(key) ?? { new_count: 0, open_new_count: 0 }
  const per_day = occurrencesPerDay(release)
  const stability_score = stabilityScore({
    severities: release.severities,
    open_share: share(open_new_count, new_count),
    growth: before ? per_day / occurrencesPerDay(before) - 1 : null,
  })
  return {
    application_id: release.application_id,
    app_version: release.app_version,
    before_version: before?.app_version ?? null,
    first_seen_at: new Date(release.first_seen_at).toISOString(),
    last_seen_at: new Date(release.last_hour).toISOString(),
    occurrences: now.occurrences,
    share: share(now.occurrences, input.totalOccurrences),
    severities: now.severities,
    per_day,
    trend: input.trends.get(key) ?? [],
    new_count,
    open_new_count,
    regressed_count: input.regressions.get(key) ?? 0,
    ...(input.changeCounts.get(key) ?? { gone_count: 0, worse_count: 0 }),
    stability_score,
    status: stabilityStatus(stability_score),
  }
}

function occurrencesPerDay(release: Release): number {
  return release.occurrences / lifetimeDays(release)
}

function paginate(total_count: number, requestedPage: number): ReleaseList['pagination'] {
  const total_pages = Math.max(1, Math.ceil(total_count / RELEASES_PER_PAGE))
  return { page: Math.min(requestedPage, total_pages), per_page: RELEASES_PER_PAGE, total_count, total_pages }
}

interface NewErrors {
  new_count: number
  open_new_count: number
}

/** Counts the new errors of each release and how many of them are open, by release key. */
async function countNewErrors(
  { database }: Context,
  { environment }: Scope,
  releases: readonly Release[],
): Promise<Map<string, NewErrors>> {
  const { read, dialect } = database
  if (releases.length === 0) return new Map()
  const rows = await read
    .selectFrom('faultboard_errors')
    .select(({ fn }) => ['application_id', 'first_app_version', fn.countAll<number>().as('error_count')])
    .select(({ fn }) => fn.sum<number>('resolved').as('resolved_count'))
    .where('first_app_version', 'in', [...new Set(releases.map(({ app_version }) => app_version))])
    .where(withoutIndex(dialect, 'application_id'), 'in', [
      ...new Set(releases.map(({ application_id }) => application_id)),
    ])
    .$if(environment !== undefined, (query) =>
      query.where(withoutIndex<string>(dialect, 'environment'), '=', environment ?? ''),
    )
    .groupBy(['application_id', 'first_app_version'])
    .execute()
  return new Map(
    rows.map(({ application_id, first_app_version, error_count, resolved_count }) => [
      releaseKey({ application_id, app_version: first_app_version ?? '' }),
      { new_count: error_count, open_new_count: error_count - resolved_count },
    ]),
  )
}

/** Counts the occurrences of the releases on each local day of the period, by release key. */
async function countByDay(
  context: Context,
  scope: Scope,
  period: Period,
  releases: readonly Pick<Release, 'application_id' | 'app_version'>[],
): Promise<Map<string, number[]>> {
  const days = new Map(releases.map((release) => [releaseKey(release), new Array<number>(period.days).fill(0)]))
  const dayIndexes = new Map(period.dates.map((date, i) => [date, i]))
  for (const { day, count, ...release } of await sumByLocalDay(context, scope, period)) {
    const counts = days.get(releaseKey(release))
    const dayIndex = dayIndexes.get(isoDate(day))
    if (counts && dayIndex !== undefined) counts[dayIndex] = (counts[dayIndex] ?? 0) + count
  }
  return days
}

async function sumByLocalDay(context: Context, scope: Scope, period: Period) {
  return context.database.read
    .selectFrom('faultboard_application_hours')
    .select(({ fn }) => [
      'application_id',
      'app_version',
      localDay(period).as('day'),
      fn.sum<number>('count').as('count'),
    ])
    .where(await hoursInScope(context, scope))
    .where('hour', '>=', period.from)
    .where('hour', '<', period.to)
    .groupBy(['application_id', 'app_version', 'day'])
    .execute()
}
