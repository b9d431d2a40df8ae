import * as v from 'valibot'
import type { Context } from '../../context.js'
import { id, instant, optional } from '../../model/input/input.js'
import * as r from '../../model/result.js'
import { SEVERITIES, type Severity } from '../../model/severity/severity.js'
import { DAY, firstHourFrom, lastDays, localDay } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { Spike } from '../baselines/spiking-errors.js'
import { loadRankedErrors, RankedError } from '../ranked-errors.js'
import { SeverityCounts } from '../releases/releases.js'
import { countSinceEach, type Series, sumsBetween } from '../sums/sums-between.js'
import { AffectedUsers, affectedUsers } from './affected-users.js'
import { type AttentionGroup, loadAttentionGroups, loadSpikes, openSpikes } from './attention.js'
import { countsWithOccurrences, DashboardStats, loadRankedTotals, startTimes } from './dashboard-stats.js'
import { Backlog, loadBacklog, loadTimeToResolve, TimeToResolve } from './headline-figures.js'
import { loadImpact } from './impact.js'

/** Occurrences of one local day by severity. */
const OverviewDay = r.object({ date: r.day, total: r.integer, ...SeverityCounts.entries })
type OverviewDay = v.InferOutput<typeof OverviewDay>

export const AttentionList = r.named(
  'Attention',
  r.object({
    count: r.integer,
    /** True when `count` is a lower bound. */
    is_lower_bound: r.optional(r.alwaysTrue),
    errors: r.list(RankedError),
  }),
)
export type AttentionList = v.InferOutput<typeof AttentionList>

const ImpactRow = r.object({
  ...RankedError.entries,
  /** Occurrences since `impact_since`. */
  occurrences: r.integer,
  /** Affected users in the last seven days. */
  users: r.integer,
})
type ImpactRow = v.InferOutput<typeof ImpactRow>

/** Platform or release with its occurrences on each of the last seven days. */
export const TrendSeries = r.object({
  name: r.text,
  total: r.integer,
  daily: r.list(r.integer),
})
export type TrendSeries = v.InferOutput<typeof TrendSeries>

export const Overview = r.object({
  stats: DashboardStats,
  /** Occurrences today, and yesterday until the same time of day. */
  today: r.object({ occurrences: r.integer, before: r.integer }),
  unresolved: Backlog,
  affected_users: AffectedUsers,
  time_to_resolve: TimeToResolve,
  /** Last 30 local days, oldest first. */
  days: r.list(OverviewDay),
  /** Errors first seen after this time count as new. */
  new_since: r.time,
  new_errors: AttentionList,
  reopened: AttentionList,
  unattended: AttentionList,
  spiking: r.nullable(r.list(Spike)),
  impact_since: r.time,
  user_counts_are_lower_bounds: r.boolean,
  top_by_impact: r.list(ImpactRow),
  platforms: r.list(TrendSeries),
  releases: r.list(TrendSeries),
})
export type Overview = v.InferOutput<typeof Overview>

const CHART_DAYS = 30
const TREND_DAYS = 14
const WEEK_DAYS = 7
const MAX_SERIES = 6

const overviewInput = v.object({
  application_id: optional(id()),
  since: optional(instant()),
})

/** Returns all data of the overview. `since` is the time of the previous visit. */
export const overviewData = defineOperation({
  input: overviewInput,
  async run(context, { application_id, since }): Promise<Overview> {
    const recent = await loadRecentOverview(context, application_id)
    return joinOverview(await loadLiveOverview(context, { application_id, since }, recent), recent)
  },
})

/** Live part of the overview. */
export type LiveOverview = Awaited<ReturnType<typeof loadLiveOverview>>
/** Part of the overview that covers the last days and changes little within a minute. */
export type RecentOverview = Awaited<ReturnType<typeof loadRecentOverview>>

export function joinOverview(
  { counts, ...now }: LiveOverview,
  { ranked, spikes, ...recent }: RecentOverview,
): Overview {
  return { stats: { ...counts, ...ranked }, ...now, ...recent }
}

export async function loadLiveOverview(
  context: Context,
  { application_id, since = context.now() - DAY }: v.InferOutput<typeof overviewInput>,
  { spikes }: Pick<RecentOverview, 'spikes'>,
) {
  const days = lastDays(CHART_DAYS, context.now(), context.config.time_zone)
  // Runs in parallel on database servers.
  const [figures, unresolved, errors, spiking] = await Promise.all([
    loadNumbers(context, application_id, days),
    loadBacklog(context, { application_id, days: days.slice(-TREND_DAYS) }),
    loadAttention(context, application_id, since),
    spikes && openSpikes(context, spikes),
  ])
  return {
    ...figures,
    unresolved: unresolved(figures.counts.unresolved_count),
    new_since: new Date(since).toISOString(),
    ...errors,
    spiking,
  }
}

export async function loadRecentOverview(context: Context, application_id: number | undefined) {
  const week = lastDays(WEEK_DAYS, context.now(), context.config.time_zone)
  const [ranked, affected_users, time_to_resolve, spikes, top, parts] = await Promise.all([
    loadRankedTotals(context, application_id),
    affectedUsers(context, { application_id, days: week }),
    loadTimeToResolve(context, application_id),
    loadSpikes(context, application_id),
    loadTopByImpact(context, application_id),
    loadTrendSeries(context, application_id, week),
  ])
  return { ranked, affected_users, time_to_resolve, spikes, ...top, ...parts }
}

async function loadNumbers(context: Context, application_id: number | undefined, starts: readonly number[]) {
  const { days, before, ...occurrences } = await occurrencesByDay(context, application_id, starts)
  const counts = await countsWithOccurrences(context, application_id, occurrences)
  return { counts, days, today: { occurrences: counts.occurrences_today, before } }
}

/** Computes the days of the chart and the sums since all required times in one pass over the hours. */
async function occurrencesByDay(context: Context, application_id: number | undefined, days: readonly number[]) {
  const spans = startTimes(context)
  const [yesterday = 0, today = 0] = days.slice(-2)
  const sameTime = Math.min(yesterday + (context.now() - today), today)
  const instants = [yesterday, sameTime, ...Object.values(spans)]
  const starts = days.map(firstHourFrom)
  const cuts = [...new Set([...starts, ...instants])].sort((a, b) => a - b)
  const sums = await sumsBetween(context, { application_id, cuts, by: ['severity'] })
  const since = await countSinceEach(context, { application_id, instants, cuts, sums })
  const counts = new Map(sums.map(({ values: [severity], counts }) => [severity, counts]))
  const within = (severity: Severity, from: number, to: number) =>
    cuts.reduce((sum, cut, i) => (cut >= from && cut < to ? sum + (counts.get(severity)?.[i] ?? 0) : sum), 0)
  return {
    spans,
    since,
    before: (since.get(yesterday) ?? 0) - (since.get(sameTime) ?? 0),
    days: starts.map((start, i): OverviewDay => {
      const end = starts[i + 1] ?? Number.POSITIVE_INFINITY
      const bySeverity = SEVERITIES.map((severity) => [severity, within(severity, start, end)] as const)
      const total = bySeverity.reduce((sum, [, count]) => sum + count, 0)
      const date = localDay(start, context.config.time_zone)
      return { date, total, ...(Object.fromEntries(bySeverity) as Record<Severity, number>) }
    }),
  }
}

/** Errors that need attention. Loads the errors of all lists in one query. */
async function loadAttention(context: Context, application_id: number | undefined, since: number) {
  const groups = await loadAttentionGroups(context, { application_id, since })
  const errors = await loadRankedErrors(
    context,
    Object.values(groups).flatMap(({ ids }) => ids),
  )
  const withErrors = ({ ids, ...group }: AttentionGroup): AttentionList => ({
    ...group,
    errors: ids.flatMap((id) => errors.get(id) ?? []),
  })
  return {
    new_errors: withErrors(groups.new_errors),
    reopened: withErrors(groups.reopened),
    unattended: withErrors(groups.unattended),
  }
}

async function loadTopByImpact(context: Context, application_id: number | undefined) {
  const top = await loadImpact(context, application_id)
  const errors = await loadRankedErrors(
    context,
    top.errors.map(({ error_id }) => error_id),
  )
  return {
    impact_since: new Date(top.since).toISOString(),
    user_counts_are_lower_bounds: top.user_counts_are_lower_bounds,
    top_by_impact: top.errors.flatMap(({ error_id, occurrences, users }): ImpactRow[] => {
      const error = errors.get(error_id)
      return error ? [{ ...error, occurrences, users }] : []
    }),
  }
}

async function loadTrendSeries(context: Context, application_id: number | undefined, days: readonly number[]) {
  const cuts = days.map(firstHourFrom)
  const series = await sumsBetween(context, { application_id, cuts, by: ['platform', 'app_version'] })
  return { platforms: largestSeries(series, 0, days.length), releases: largestSeries(series, 1, days.length) }
}

/** Values of one dimension with the most occurrences. Ignores empty values. */
function largestSeries(series: readonly Series[], dimension: 0 | 1, days: number): TrendSeries[] {
  const seriesByName = new Map<string, TrendSeries>()
  for (const { values, counts } of series) {
    const name = values[dimension] ?? ''
    const trend = seriesByName.get(name) ?? { name, total: 0, daily: new Array<number>(days).fill(0) }
    seriesByName.set(name, trend)
    for (const [day, count] of counts.entries()) {
      trend.total += count
      trend.daily[day] = (trend.daily[day] ?? 0) + count
    }
  }
  return [...seriesByName.values()]
    .filter(({ name, total }) => name !== '' && total > 0)
    .sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_SERIES)
}
