import * as v from 'valibot'
import type { Context } from '../../context.js'
import { filterText } from '../../model/input/input.js'
import type { Scope } from '../../model/input/scope.js'
import { MAX_LISTED_PLATFORMS } from '../../model/requests/platform.js'
import * as r from '../../model/result.js'
import { SEVERITIES } from '../../model/severity/severity.js'
import { DAY, HOUR } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { aboveBaselineToday } from '../baselines/above-baseline.js'
import type { Spike } from '../baselines/spiking-errors.js'
import { type StrongCascade, strongestCascades } from '../cascades/strongest-cascades.js'
import { topUsers, type UserErrors } from '../correlation/top-users.js'
import { type RecentBursts, recentBursts } from '../patterns/recent-bursts.js'
import { platformCounts } from '../platforms/platform-counts.js'
import { type ReleaseChanges, releaseChanges } from '../releases/release-changes.js'
import { noSeverities, SeverityCounts } from '../releases/releases.js'
import { type VersionFigures, versionFigures } from '../releases/version-errors.js'
import { share } from '../statistics.js'
import { type HourSum, hourSums } from '../sums/hour-sums.js'
import { lastDaysPeriod, localOffsets, type Period, PeriodView, periodInput, periodView } from '../sums/period.js'
import { typeCounts } from '../sums/type-counts.js'
import { RecurringError, recurringErrors } from './recurring-errors.js'
import { loadResolution, Resolution } from './resolution.js'
import { errorsWithMostUsers, type ImpactedError } from './user-impact.js'

export const TREND_DAYS = 30
const MAX_TYPES = 10
const MAX_ROWS = 10

/** Figures from the hourly sums and the errors. Fast on any database. */
export const ErrorTrends = r.object({
  period: PeriodView,
  total_occurrences: r.integer,
  severities: SeverityCounts,
  /** One entry per local day, oldest first. */
  errors_over_time: r.list(r.object({ date: r.day, count: r.integer, ...SeverityCounts.entries })),
  errors_by_platform: r.list(r.object({ platform: r.text, count: r.integer, share: r.number })),
  /** Seven rows starting on Monday, each with the occurrences of 24 local hours. */
  errors_by_weekday_and_hour: r.list(r.list(r.integer)),
  resolution: Resolution,
  recurring_errors: r.list(RecurringError),
})
export type ErrorTrends = v.InferOutput<typeof ErrorTrends>

export const TypeShares = r.object({
  types: r.list(r.object({ error_type: r.text, count: r.integer, error_count: r.integer, share: r.number })),
  /** Combined figures of the remaining types. */
  other: r.object({ count: r.integer, type_count: r.integer, share: r.number }),
})
export type TypeShares = v.InferOutput<typeof TypeShares>

export const errorTrendsInput = v.object({
  ...periodInput.entries,
  app_version: filterText({ max: 128 }),
})

export interface TrendsInput extends Scope {
  days: number
}

/** Returns errors of the last days by time, severity, platform and hour, and their resolution. */
export async function errorTrends(context: Context, { days, ...scope }: TrendsInput): Promise<ErrorTrends> {
  const period = lastDaysPeriod(context, days)
  const sums = await hourSums(context, scope, period)
  const total_occurrences = sumCounts(sums)
  return {
    period: periodView(period, context.now()),
    total_occurrences,
    severities: countSeverities(sums),
    errors_over_time: countByDay(sums, period),
    errors_by_platform: rankPlatforms(await platformCounts(context, scope, period), total_occurrences),
    errors_by_weekday_and_hour: countByWeekHour(sums, period),
    resolution: await loadResolution(context, scope, period),
    recurring_errors: await recurringErrors(context, scope, MAX_ROWS),
  }
}

/** Most frequent error types, with all other types combined. */
export async function errorsByType(context: Context, { days, ...scope }: TrendsInput): Promise<TypeShares> {
  const { types, total, type_count } = await typeCounts(context, scope, lastDaysPeriod(context, days), MAX_TYPES)
  const count = total - sumCounts(types)
  return {
    types: types.map((type) => ({ ...type, share: share(type.count, total) })),
    other: { count, type_count: type_count - types.length, share: share(count, total) },
  }
}

/** Users with the most errors. */
export async function usersWithErrors(context: Context, { days, ...scope }: TrendsInput): Promise<UserErrors[]> {
  return topUsers(context, scope, lastDaysPeriod(context, days), MAX_ROWS)
}

/** Errors with the most affected users. */
export async function errorsByUsers(context: Context, { days, ...scope }: TrendsInput): Promise<ImpactedError[]> {
  return errorsWithMostUsers(context, scope, lastDaysPeriod(context, days), MAX_ROWS)
}

/** Versions with occurrences, newest first. */
export async function errorsByRelease(context: Context, { days, ...scope }: TrendsInput): Promise<VersionFigures[]> {
  return versionFigures(context, scope, lastDaysPeriod(context, days))
}

/** Cascades of the period, most frequent first. */
export async function cascadesOfPeriod(context: Context, { days, ...scope }: TrendsInput): Promise<StrongCascade[]> {
  return strongestCascades(context, scope, lastDaysPeriod(context, days).from, MAX_ROWS)
}

/** Bursts of the period, newest first. */
export async function burstsOfPeriod(context: Context, { days, ...scope }: TrendsInput): Promise<RecentBursts> {
  return recentBursts(context, scope, lastDaysPeriod(context, days).from, MAX_ROWS)
}

/** Error types above their daily baseline. Null when there are no baselines. */
export async function typesAboveBaseline(context: Context, scope: Scope): Promise<Spike[] | null> {
  return aboveBaselineToday(context, scope, MAX_ROWS)
}

/** Changes of a release, by default the newest, compared with its predecessor. */
export async function changesOfRelease(
  context: Context,
  scope: Scope,
  app_version: string | undefined,
): Promise<ReleaseChanges | null> {
  return releaseChanges(context, scope, app_version, MAX_ROWS)
}

/** Returns all data of the analytics page. */
export const errorAnalytics = defineOperation({
  input: errorTrendsInput,
  async run(context, { days = TREND_DAYS, application_id, environment, app_version }) {
    const scope = { application_id, environment }
    const input = { days, ...scope }
    return {
      ...(await errorTrends(context, input)),
      errors_by_type: await errorsByType(context, input),
      top_users: await usersWithErrors(context, input),
      user_impact: await errorsByUsers(context, input),
      errors_by_version: await errorsByRelease(context, input),
      above_baseline: await typesAboveBaseline(context, scope),
      cascades: await cascadesOfPeriod(context, input),
      bursts: await burstsOfPeriod(context, input),
      release: await changesOfRelease(context, scope, app_version),
    }
  },
})

function countByDay(sums: readonly HourSum[], period: Period): ErrorTrends['errors_over_time'] {
  const offset = localOffsets(period)
  const days = new Map(period.dates.map((date) => [Date.parse(date), { date, counts: noSeverities() }]))
  for (const { hour, severity, count } of sums) {
    const local = hour + offset(hour)
    const day = days.get(local - (local % DAY))
    if (day) day.counts[severity] += count
  }
  return [...days.values()].map(({ date, counts }) => ({
    date,
    count: SEVERITIES.reduce((sum, severity) => sum + counts[severity], 0),
    ...counts,
  }))
}

function countByWeekHour(sums: readonly HourSum[], period: Period): number[][] {
  const offset = localOffsets(period)
  const week = Array.from({ length: 7 }, () => new Array<number>(24).fill(0))
  for (const { hour, count } of sums) {
    const local = hour + offset(hour)
    // January 1, 1970 was a Thursday.
    const day = week[(Math.floor(local / DAY) + 3) % 7]
    const hourOfDay = Math.floor((local % DAY) / HOUR)
    if (day) day[hourOfDay] = (day[hourOfDay] ?? 0) + count
  }
  return week
}

function rankPlatforms(counts: ReadonlyMap<string, number>, total: number): ErrorTrends['errors_by_platform'] {
  return [...counts]
    .map(([platform, count]) => ({ platform, count, share: share(count, total) }))
    .sort((a, b) => b.count - a.count || (a.platform < b.platform ? -1 : 1))
    .slice(0, MAX_LISTED_PLATFORMS)
}

function countSeverities(sums: readonly HourSum[]): SeverityCounts {
  const counts = noSeverities()
  for (const { severity, count } of sums) counts[severity] += count
  return counts
}

function sumCounts(rows: readonly { count: number }[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0)
}
