import * as v from 'valibot'
import type { Context } from '../../context.js'
import { filterText } from '../../model/input.js'
import { MAX_LISTED_PLATFORMS } from '../../model/requests/platform.js'
import { SEVERITIES } from '../../model/severity.js'
import { DAY, HOUR } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { aboveBaselineToday } from '../baselines/above-baseline.js'
import type { Spike } from '../baselines/spiking-errors.js'
import { type StrongCascade, strongestCascades } from '../cascades/strongest-cascades.js'
import { topUsers, type UserErrors } from '../correlation/top-users.js'
import { type RecentBursts, recentBursts } from '../patterns/recent-bursts.js'
import { platformCounts } from '../platforms/platform-counts.js'
import { type ReleaseChanges, releaseChanges } from '../releases/release-changes.js'
import { noSeverities, type SeverityCounts } from '../releases/releases.js'
import { type VersionFigures, versionFigures } from '../releases/version-errors.js'
import { share } from '../statistics.js'
import type { Scope } from '../sums/application-filter.js'
import { type HourSum, hourSums } from '../sums/hour-sums.js'
import { localOffsets, type Period, type PeriodView, periodInput, periodOf, periodView } from '../sums/period.js'
import { typeCounts } from '../sums/type-counts.js'
import { type RecurringError, recurringErrors } from './recurring-errors.js'
import { type Resolution, resolution } from './resolution.js'
import { type ImpactedError, userImpact } from './user-impact.js'

export const TREND_DAYS = 30
const TYPES = 10
const LIMIT = 10

/** What the hourly sums and the errors themselves tell: quick on any database. */
export interface ErrorTrends {
  period: PeriodView
  total_occurrences: number
  severities: SeverityCounts
  /** One entry per local day, oldest first. */
  errors_over_time: ({ date: string; count: number } & SeverityCounts)[]
  errors_by_platform: { platform: string; count: number; share: number }[]
  /** Seven rows from Monday on, each with the occurrences of its 24 local hours. */
  errors_by_weekday_and_hour: number[][]
  resolution: Resolution
  recurring_errors: RecurringError[]
}

export interface TypeShares {
  types: { error_type: string; count: number; error_count: number; share: number }[]
  /** Occurrences and number of the types that are not among the first. */
  other: { count: number; type_count: number; share: number }
}

export const errorTrendsInput = v.object({
  ...periodInput.entries,
  app_version: filterText({ max: 128 }),
})

export interface TrendsQuestion extends Scope {
  days: number
}

/** How the errors of the last days are spread over time, severities, platforms and hours, and how they were dealt with. */
export async function errorTrends(context: Context, { days, ...scope }: TrendsQuestion): Promise<ErrorTrends> {
  const period = periodOf(context, days)
  const sums = await hourSums(context, scope, period)
  const total_occurrences = sumOf(sums)
  return {
    period: periodView(period, context.now()),
    total_occurrences,
    severities: severitiesOf(sums),
    errors_over_time: overTime(sums, period),
    errors_by_platform: byPlatform(await platformCounts(context, scope, period), total_occurrences),
    errors_by_weekday_and_hour: byWeekHour(sums, period),
    resolution: await resolution(context, scope, period),
    recurring_errors: await recurringErrors(context, scope, LIMIT),
  }
}

/** The most frequent error types, and the rest as one. */
export async function errorsByType(context: Context, { days, ...scope }: TrendsQuestion): Promise<TypeShares> {
  const { types, total, type_count } = await typeCounts(context, scope, periodOf(context, days), TYPES)
  const count = total - sumOf(types)
  return {
    types: types.map((type) => ({ ...type, share: share(type.count, total) })),
    other: { count, type_count: type_count - types.length, share: share(count, total) },
  }
}

/** The users who met most errors. */
export async function usersWithErrors(context: Context, { days, ...scope }: TrendsQuestion): Promise<UserErrors[]> {
  return topUsers(context, scope, periodOf(context, days), LIMIT)
}

/** The errors that met most users. */
export async function errorsByUsers(context: Context, { days, ...scope }: TrendsQuestion): Promise<ImpactedError[]> {
  return userImpact(context, scope, periodOf(context, days), LIMIT)
}

/** The versions that reported, newest first. */
export async function errorsByRelease(context: Context, { days, ...scope }: TrendsQuestion): Promise<VersionFigures[]> {
  return versionFigures(context, scope, periodOf(context, days))
}

/** What brings something else, most often first. */
export async function cascadesOfPeriod(context: Context, { days, ...scope }: TrendsQuestion): Promise<StrongCascade[]> {
  return strongestCascades(context, scope, periodOf(context, days).from, LIMIT)
}

/** When errors came one upon the other, newest first. */
export async function burstsOfPeriod(context: Context, { days, ...scope }: TrendsQuestion): Promise<RecentBursts> {
  return recentBursts(context, scope, periodOf(context, days).from, LIMIT)
}

/** What occurred more often today than is usual; null while no baselines are kept. */
export async function aboveUsual(context: Context, scope: Scope): Promise<Spike[] | null> {
  return aboveBaselineToday(context, scope, LIMIT)
}

/** What a release (the newest, unless one is named) brought against the release before it. */
export async function changesOfRelease(
  context: Context,
  scope: Scope,
  app_version: string | undefined,
): Promise<ReleaseChanges | null> {
  return releaseChanges(context, scope, app_version, LIMIT)
}

/** Everything of the analytics page in one answer. */
export const errorAnalytics = defineOperation({
  input: errorTrendsInput,
  async run(context, { days = TREND_DAYS, application_id, app_version }) {
    const question = { days, application_id }
    return {
      ...(await errorTrends(context, question)),
      errors_by_type: await errorsByType(context, question),
      top_users: await usersWithErrors(context, question),
      user_impact: await errorsByUsers(context, question),
      errors_by_version: await errorsByRelease(context, question),
      above_baseline: await aboveUsual(context, question),
      cascades: await cascadesOfPeriod(context, question),
      bursts: await burstsOfPeriod(context, question),
      release: await changesOfRelease(context, { application_id }, app_version),
    }
  },
})

function overTime(sums: readonly HourSum[], period: Period): ErrorTrends['errors_over_time'] {
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

function byWeekHour(sums: readonly HourSum[], period: Period): number[][] {
  const offset = localOffsets(period)
  const week = Array.from({ length: 7 }, () => new Array<number>(24).fill(0))
  for (const { hour, count } of sums) {
    const local = hour + offset(hour)
    // The first of January 1970 was a Thursday.
    const day = week[(Math.floor(local / DAY) + 3) % 7]
    const hour_of_day = Math.floor((local % DAY) / HOUR)
    if (day) day[hour_of_day] = (day[hour_of_day] ?? 0) + count
  }
  return week
}

function byPlatform(counts: ReadonlyMap<string, number>, whole: number): ErrorTrends['errors_by_platform'] {
  return [...counts]
    .map(([platform, count]) => ({ platform, count, share: share(count, whole) }))
    .sort((a, b) => b.count - a.count || (a.platform < b.platform ? -1 : 1))
    .slice(0, MAX_LISTED_PLATFORMS)
}

function severitiesOf(sums: readonly HourSum[]): SeverityCounts {
  const counts = noSeverities()
  for (const { severity, count } of sums) counts[severity] += count
  return counts
}

function sumOf(rows: readonly { count: number }[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0)
}
