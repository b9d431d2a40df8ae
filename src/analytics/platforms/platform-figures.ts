import type * as v from 'valibot'
import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import type { Severity } from '../../model/severity/severity.js'
import { noSeverities, SeverityCounts } from '../releases/releases.js'
import { STABILITY_STATUSES, stabilityScore, stabilityStatus } from '../stability-score.js'
import { growth, share } from '../statistics.js'
import { type DaySum, daySums } from '../sums/hour-sums.js'
import { elapsedDays, isoDate, lastDaysPeriod, type Period } from '../sums/period.js'
import { loadResolution, type Resolution, ResolutionRate } from '../trends/resolution.js'
import { platformCounts } from './platform-counts.js'

export const PlatformRate = r.object({
  platform: r.text,
  occurrences: r.integer,
  /** Share of the occurrences of all platforms. */
  share: r.number,
  per_day: r.number,
  /** Occurrences in the previous period. */
  before_count: r.integer,
  /** Relative growth since the previous period; null without earlier occurrences. */
  growth: r.nullable(r.number),
  severities: SeverityCounts,
  /** Per local day, oldest first. */
  daily_counts: r.list(r.integer),
})
export type PlatformRate = v.InferOutput<typeof PlatformRate>

export const PlatformStability = r.object({
  ...ResolutionRate.entries,
  platform: r.text,
  /** From 0 to 100; see stability-score.ts. */
  stability_score: r.number,
  status: r.oneOf(STABILITY_STATUSES),
  /** Median time from the first occurrence to the resolution, for errors resolved in the period. */
  median_time_to_resolve_ms: r.nullable(r.number),
})
export type PlatformStability = v.InferOutput<typeof PlatformStability>

/** Data shared by all platform methods. */
export interface PlatformFigures {
  now: number
  period: Period
  rates: PlatformRate[]
  resolution: Resolution
}

export async function platformFigures(context: Context, scope: Scope, days: number): Promise<PlatformFigures> {
  await context.ready()
  const period = lastDaysPeriod(context, days)
  const sums = await daySums(context, scope, period)
  const before = await platformCounts(context, scope, period.before)
  return {
    now: context.now(),
    period,
    rates: calculateRates(sums, before, period),
    resolution: await loadResolution(context, scope, period),
  }
}

function calculateRates(sums: readonly DaySum[], before: ReadonlyMap<string, number>, period: Period): PlatformRate[] {
  const all = sumCounts(sums)
  return [...new Set(sums.map(({ platform }) => platform))]
    .map((platform): PlatformRate => {
      const own = sums.filter((sum) => sum.platform === platform)
      const occurrences = sumCounts(own)
      const before_count = before.get(platform) ?? 0
      return {
        platform,
        occurrences,
        share: share(occurrences, all),
        per_day: occurrences / elapsedDays(period),
        before_count,
        growth: growth(occurrences, before_count),
        severities: countSeverities(own),
        daily_counts: period.dates.map((date) => sumCounts(own.filter(({ day }) => isoDate(day) === date))),
      }
    })
    .sort((a, b) => b.occurrences - a.occurrences || (a.platform < b.platform ? -1 : 1))
}

/** Platform without occurrences. */
export function emptyRate(platform: string, period: Period): PlatformRate {
  return {
    platform,
    occurrences: 0,
    share: 0,
    per_day: 0,
    before_count: 0,
    growth: null,
    severities: noSeverities(),
    daily_counts: period.dates.map(() => 0),
  }
}

export function platformStability(rate: PlatformRate, { by_platform, time_to_resolve }: Resolution): PlatformStability {
  const { platform } = rate
  const { error_count, resolved_count, resolution_rate } = by_platform.find((row) => row.platform === platform) ?? {
    error_count: 0,
    resolved_count: 0,
    resolution_rate: 0,
  }
  const open_share = share(error_count - resolved_count, error_count)
  const stability_score = stabilityScore({ severities: rate.severities, open_share, growth: rate.growth })
  return {
    platform,
    stability_score,
    status: stabilityStatus(stability_score),
    error_count,
    resolved_count,
    resolution_rate,
    median_time_to_resolve_ms: time_to_resolve.by_platform.find((row) => row.platform === platform)?.median_ms ?? null,
  }
}

function countSeverities(sums: readonly { severity: Severity; count: number }[]): SeverityCounts {
  const counts = noSeverities()
  for (const { severity, count } of sums) counts[severity] += count
  return counts
}

function sumCounts(sums: readonly { count: number }[]): number {
  return sums.reduce((sum, { count }) => sum + count, 0)
}
