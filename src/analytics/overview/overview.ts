import * as v from 'valibot'
import type { Context } from '../../context.js'
import { CHART_RANGES, type ChartSpan, chartSpan, chartSpanInput, spanBefore } from '../../model/chart-span.js'
import { instant, optional } from '../../model/input/input.js'
import { type Scope, scopeInput } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import type { Severity } from '../../model/severity/severity.js'
import { DAY, isoTime, startOfHour, startOfUtcDay } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { loadRankedErrors, RankedError } from '../ranked-errors.js'
import { loadReleaseTimes, markersWithin, ReleaseMarker } from '../releases/release-markers.js'
import { noSeverities, SeverityCounts } from '../releases/releases.js'
import type { Span } from '../sums/period.js'
import { errorsInScope } from '../sums/scope-conditions.js'
import { countSinceEach, type Series, sumsBetween } from '../sums/sums-between.js'
import { AffectedUsers, affectedUsers } from './affected-users.js'
import { type AttentionGroup, loadAttentionGroups, loadSpikes, OpenSpike, openSpikes } from './attention.js'
import { DashboardStats, loadErrorTotals, loadRankedTotals, startTimes } from './dashboard-stats.js'
import { fiveMinuteCounts } from './five-minute-counts.js'
import { Backlog, loadBacklogChanges, loadTimeToResolve, TimeToResolve } from './headline-figures.js'
import { loadImpact } from './impact.js'

/** Occurrences of one bar of the chart by severity. */
const OverviewBar = r.object({ starts_at: r.time, total: r.integer, ...SeverityCounts.entries })
type OverviewBar = v.InferOutput<typeof OverviewBar>

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
  /** Occurrences and affected users in the period. */
  occurrences: r.integer,
  users: r.integer,
})
type ImpactRow = v.InferOutput<typeof ImpactRow>

/** Platform with its occurrences in the period. */
const NamedTotal = r.object({ name: r.text, total: r.integer })
type NamedTotal = v.InferOutput<typeof NamedTotal>

/** Release with its occurrences in the period. Applications can share a version. */
const ReleaseTotal = r.object({ application_id: r.integer, ...NamedTotal.entries })

export const Overview = r.object({
  stats: DashboardStats,
  /** Period of all figures below, except the errors that need attention. `range` is null for a selected time span. */
  period: r.object({ range: r.nullable(r.oneOf(CHART_RANGES)), from: r.time, to: r.time }),
  /** Occurrences in the period, and in the previous period of the same length; null if that is not stored in full. */
  occurrences: r.object({ count: r.integer, before: r.nullable(r.integer) }),
  unresolved: Backlog,
  affected_users: AffectedUsers,
  time_to_resolve: TimeToResolve,
  /** Bars of the chart, oldest first: days, quarters of a day, hours or five minutes, depending on the period. */
  bars: r.list(OverviewBar),
  /** Releases first seen in the period, oldest first. */
  release_markers: r.list(ReleaseMarker),
  /** Errors first seen after this time count as new. */
  new_since: r.time,
  /** Newest release of each application. */
  latest_releases: r.list(ReleaseMarker),
  new_errors: AttentionList,
  reopened: AttentionList,
  unattended: AttentionList,
  spiking: r.nullable(r.list(OpenSpike)),
  user_counts_are_lower_bounds: r.boolean,
  top_by_impact: r.list(ImpactRow),
  platforms: r.list(NamedTotal),
  releases: r.list(ReleaseTotal),
})
export type Overview = v.InferOutput<typeof Overview>

const MAX_NAMES = 6

const overviewInput = v.object({
  ...scopeInput,
  since: optional(instant()),
  ...chartSpanInput,
})

/** Returns all data of the overview. `since` is the time of the previous visit. */
export const overviewData = defineOperation({
  input: overviewInput,
  async run(context, { application_id, environment, since, ...selected }): Promise<Overview> {
    const span = chartSpan(selected, context.now(), context.config.time_zone)
    const scope = { application_id, environment }
    const recent = await loadRecentOverview(context, scope, span)
    return mergeOverview(await loadLiveOverview(context, { scope, since, span }, recent), recent)
  },
})

/** Live part of the overview. */
export type LiveOverview = Awaited<ReturnType<typeof loadLiveOverview>>
/** Part of the overview that changes little within a minute and can be cached. */
export type RecentOverview = Awaited<ReturnType<typeof loadRecentOverview>>

export function mergeOverview(
  { counts, ...live }: LiveOverview,
  { ranked, spikes, hasPrevious, ...recent }: RecentOverview,
): Overview {
  return { stats: { ...counts, ...ranked }, ...live, ...recent }
}

export async function loadLiveOverview(
  context: Context,
  { scope, since = context.now() - DAY, span }: { scope: Scope; since: number | undefined; span: ChartSpan },
  { spikes, hasPrevious }: Pick<RecentOverview, 'spikes' | 'hasPrevious'>,
) {
  // Runs in parallel on database servers.
  const [figures, changes, errors, spiking] = await Promise.all([
    loadNumbers(context, scope, { span, hasPrevious }),
    loadBacklogChanges(context, scope, span),
    loadAttention(context, scope, since),
    spikes && openSpikes(context, spikes),
  ])
  const { range, from, to } = span
  return {
    ...figures,
    period: { range, from: isoTime(from), to: isoTime(Math.min(to, context.now())) },
    unresolved: { count: figures.counts.unresolved_count, ...changes },
    new_since: new Date(since).toISOString(),
    ...errors,
    spiking,
  }
}

export async function loadRecentOverview(context: Context, scope: Scope, period: ChartSpan) {
  const previous = spanBefore(period, context.now())
  const hasPrevious = await isStoredInFull(context, scope, previous)
  const spans = { period, before: hasPrevious ? previous : null }
  const [ranked, affected_users, time_to_resolve, spikes, top, totals, releases] = await Promise.all([
    loadRankedTotals(context, scope),
    affectedUsers(context, scope, spans),
    loadTimeToResolve(context, scope, spans),
    loadSpikes(context, scope),
    loadTopByImpact(context, scope, period),
    loadNamedTotals(context, scope, period),
    loadReleaseTimes(context, scope),
  ])
  return {
    ...{ ranked, hasPrevious, affected_users, time_to_resolve, spikes, ...top, ...totals },
    release_markers: markersWithin(releases, period),
    latest_releases: [...new Map(releases.map((release) => [release.application_id, release])).values()],
  }
}

/**
 * Checks whether the span starts after the first error and within the retention period. A comparison with partial data
 * would show false growth.
 */
async function isStoredInFull(context: Context, scope: Scope, { from }: Span): Promise<boolean> {
  if (context.isRecordingHistory()) return false
  const { retention_days } = context.config
  if (retention_days !== null && from < context.now() - retention_days * DAY) return false
  const earlier = await context.database.read
    .selectFrom('faultboard_errors')
    .select('id')
    .where('first_seen_at', '<=', from)
    .where(errorsInScope(context, scope))
    .limit(1)
    .executeTakeFirst()
  return earlier !== undefined
}

async function loadNumbers(
  context: Context,
  scope: Scope,
  { span, hasPrevious }: { span: ChartSpan; hasPrevious: boolean },
) {
  const spans = startTimes(context)
  const before = spanBefore(span, context.now())
  const usesHours = span.step !== 'five_minutes'
  const instants = Object.values(spans)
  // Reads the hours once for the bars and all other sums.
  const cuts = sortedTimes([...instants, ...(usesHours ? [...daysWithin(before), ...span.starts, span.to] : [])])
  const sums = await sumsBetween(context, { ...scope, cuts, by: ['severity'] })
  const since = await countSinceEach(context, { scope, instants, cuts, sums })
  const counts = await loadErrorTotals(context, scope, { spans, since })
  const times = usesHours
    ? countsAtCuts(cuts, sums)
    : await fiveMinuteCounts(context, scope, { from: before.from, to: span.to })
  const bars = chartBars(span, times)
  return {
    counts,
    bars,
    occurrences: {
      count: bars.reduce((sum, { total }) => sum + total, 0),
      before: hasPrevious
        ? times.reduce((sum, { start, count }) => (start >= before.from && start < before.to ? sum + count : sum), 0)
        : null,
    },
  }
}

/** Occurrences of a span by severity. */
export async function occurrenceBars(context: Context, scope: Scope, span: ChartSpan): Promise<OverviewBar[]> {
  if (span.step === 'five_minutes') return chartBars(span, await fiveMinuteCounts(context, scope, span))
  const cuts = [...span.starts, span.to]
  return chartBars(span, countsAtCuts(cuts, await sumsBetween(context, { ...scope, cuts, by: ['severity'] })))
}

/** Cuts a span at UTC day boundaries, so that whole days can be read from daily sums. */
function daysWithin({ from, to }: Span): number[] {
  const days = [startOfUtcDay(from + DAY - 1), startOfUtcDay(to)]
  return [from, ...days.filter((day) => day > from && day < to)]
}

interface TimedCount {
  start: number
  severity: string
  count: number
}

function countsAtCuts(cuts: readonly number[], sums: readonly Series[]): TimedCount[] {
  return sums.flatMap(({ values: [severity = ''], counts }) =>
    cuts.map((start, i) => ({ start, severity, count: counts[i] ?? 0 })),
  )
}

/** Bars of a chart. A bar includes all counts that start in it. */
function chartBars({ starts, from, to }: ChartSpan, counts: readonly TimedCount[]): OverviewBar[] {
  const bars = starts.map((start) => ({ starts_at: new Date(start).toISOString(), total: 0, ...noSeverities() }))
  for (const { start, severity, count } of counts) {
    const bar = start >= from && start < to ? bars[starts.findLastIndex((time) => time <= start)] : undefined
    if (!bar) continue
    bar.total += count
    bar[severity as Severity] += count
  }
  return bars
}

function sortedTimes(times: readonly number[]): number[] {
  return [...new Set(times)].sort((a, b) => a - b)
}

/** Errors that need attention. Loads the errors of all lists in one query. */
async function loadAttention(context: Context, scope: Scope, since: number) {
  const groups = await loadAttentionGroups(context, { scope, since })
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

async function loadTopByImpact(context: Context, scope: Scope, period: Span) {
  const top = await loadImpact(context, scope, period)
  const errors = await loadRankedErrors(
    context,
    top.errors.map(({ error_id }) => error_id),
  )
  return {
    user_counts_are_lower_bounds: top.user_counts_are_lower_bounds,
    top_by_impact: top.errors.flatMap(({ error_id, occurrences, users }): ImpactRow[] => {
      const error = errors.get(error_id)
      return error ? [{ ...error, occurrences, users }] : []
    }),
  }
}

/** Platforms and releases with the most occurrences in the hours of the period. */
async function loadNamedTotals(context: Context, scope: Scope, { from, to }: Span) {
  const first = to - from < DAY ? startOfHour(from) : from
  const sums = await sumsBetween(context, {
    ...scope,
    cuts: [first, to],
    by: ['application_id', 'platform', 'app_version'],
  })
  return {
    platforms: largestTotals(sums, ([, platform = '']) => ({ key: platform, name: platform })),
    releases: largestTotals(sums, ([application = '', , app_version = '']) => ({
      key: JSON.stringify([application, app_version]),
      name: app_version,
      application_id: Number(application),
    })),
  }
}

/** Groups with the most occurrences before the last cut. Ignores groups without a name. */
function largestTotals<Group extends { key: string; name: string }>(
  sums: readonly Series[],
  toGroup: (values: readonly string[]) => Group,
): (Omit<Group, 'key'> & NamedTotal)[] {
  const totals = new Map<string, Group & { total: number }>()
  for (const { values, counts } of sums) {
    const group = toGroup(values)
    const total = (totals.get(group.key)?.total ?? 0) + (counts[0] ?? 0)
    totals.set(group.key, { ...group, total })
  }
  return [...totals.values()]
    .filter(({ name, total }) => name !== '' && total > 0)
    .sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_NAMES)
    .map(({ key, ...group }) => group)
}
