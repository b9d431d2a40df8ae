import * as v from 'valibot'
import type { Context } from '../../context.js'
import { id, instant, optional } from '../../model/input.js'
import { SEVERITIES, type Severity } from '../../model/severity.js'
import { DAY, dayOf, firstHourFrom, lastDays } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import type { Spike } from '../baselines/spiking-errors.js'
import { type RankedError, rankedErrors } from '../ranked-errors.js'
import { type Series, sinceEach, sumsBetween } from '../sums/sums-between.js'
import { type AffectedUsers, affectedUsers } from './affected-users.js'
import { type Concern, concerns } from './attention.js'
import { countsGiven, type DashboardStats, rankedTotals, spansOf } from './dashboard-stats.js'
import { type Backlog, backlog, type TimeToResolve, timeToResolve } from './headline-figures.js'
import { impact } from './impact.js'

/** One local day: how often anything occurred, by severity. */
export type OverviewDay = { date: string; total: number } & Record<Severity, number>

export interface Attention {
  count: number
  /** There are more than are counted. */
  is_lower_bound?: true
  errors: RankedError[]
}

export interface ImpactRow extends RankedError {
  /** Since `impact_since`. */
  occurrences: number
  /** Of the last seven days. */
  users: number
}

/** A platform or release, with its occurrences on each of the last seven days. */
export interface Multiple {
  name: string
  total: number
  daily: number[]
}

export interface Overview {
  stats: DashboardStats
  /** Occurrences today, and yesterday until this time of the day. */
  today: { occurrences: number; before: number }
  unresolved: Backlog
  affected_users: AffectedUsers
  time_to_resolve: TimeToResolve
  /** The last 30 local days, today last. */
  days: OverviewDay[]
  /** Since when an error counts as new. */
  new_since: string
  new_errors: Attention
  reopened: Attention
  unattended: Attention
  spiking: Spike[] | null
  impact_since: string
  users_are_bound: boolean
  top_by_impact: ImpactRow[]
  platforms: Multiple[]
  releases: Multiple[]
}

const DAYS = 30
const TREND_DAYS = 14
const WEEK_DAYS = 7
const MULTIPLES = 6

const overviewInput = v.object({
  application_id: optional(id()),
  since: optional(instant()),
})

/** Everything the overview shows. `since` is when the visitor was here the time before. */
export const overviewData = defineOperation({
  input: overviewInput,
  async run(context, { application_id, since }): Promise<Overview> {
    const [now, lately] = await Promise.all([
      overviewNow(context, { application_id, since }),
      overviewLately(context, application_id),
    ])
    return joined(now, lately)
  },
})

/** What the overview tells of this very moment. */
export type OverviewNow = Awaited<ReturnType<typeof overviewNow>>
/** What it tells of the last days, of which a minute changes little. */
export type OverviewLately = Awaited<ReturnType<typeof overviewLately>>

export function joined({ counts, ...now }: OverviewNow, { ranked, ...lately }: OverviewLately): Overview {
  return { stats: { ...counts, ...ranked }, ...now, ...lately }
}

export async function overviewNow(
  context: Context,
  { application_id, since = context.now() - DAY }: v.InferOutput<typeof overviewInput>,
) {
  const days = lastDays(DAYS, context.now(), context.config.time_zone)
  // A database server answers several questions at the same time.
  const [numbers, unresolved, errors] = await Promise.all([
    numbersOf(context, application_id, days),
    backlog(context, { application_id, days: days.slice(-TREND_DAYS) }),
    attention(context, application_id, since),
  ])
  return {
    ...numbers,
    unresolved: unresolved(numbers.counts.unresolved_count),
    new_since: new Date(since).toISOString(),
    ...errors,
  }
}

export async function overviewLately(context: Context, application_id: number | undefined) {
  const week = lastDays(WEEK_DAYS, context.now(), context.config.time_zone)
  const [ranked, affected_users, time_to_resolve, top, parts] = await Promise.all([
    rankedTotals(context, application_id),
    affectedUsers(context, { application_id, days: week }),
    timeToResolve(context, application_id),
    topByImpact(context, application_id),
    multiples(context, application_id, week),
  ])
  return { ranked, affected_users, time_to_resolve, ...top, ...parts }
}

async function numbersOf(context: Context, application_id: number | undefined, starts: readonly number[]) {
  const { days, before, ...occurrences } = await occurrencesByDay(context, application_id, starts)
  const counts = await countsGiven(context, application_id, occurrences)
  return { counts, days, today: { occurrences: counts.occurrences_today, before } }
}

/** The days of the chart, and the sums since every instant that a figure asks about, from one reading of the hours. */
async function occurrencesByDay(context: Context, application_id: number | undefined, days: readonly number[]) {
  const spans = spansOf(context)
  const [yesterday = 0, today = 0] = days.slice(-2)
  const sameTime = Math.min(yesterday + (context.now() - today), today)
  const instants = [yesterday, sameTime, ...Object.values(spans)]
  const starts = days.map(firstHourFrom)
  const cuts = [...new Set([...starts, ...instants])].sort((a, b) => a - b)
  const sums = await sumsBetween(context, { application_id, cuts, by: ['severity'] })
  const since = await sinceEach(context, { application_id, instants, cuts, sums })
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
      const date = dayOf(start, context.config.time_zone)
      return { date, total, ...(Object.fromEntries(bySeverity) as Record<Severity, number>) }
    }),
  }
}

/** What needs somebody; the errors of all lists are read in one go. */
async function attention(context: Context, application_id: number | undefined, since: number) {
  const { spiking, ...others } = await concerns(context, { application_id, since })
  const errors = await rankedErrors(
    context,
    Object.values(others).flatMap((one) => one.ids),
  )
  const named = ({ ids, ...concern }: Concern): Attention => ({
    ...concern,
    errors: ids.flatMap((one) => errors.get(one) ?? []),
  })
  return {
    new_errors: named(others.new_errors),
    reopened: named(others.reopened),
    unattended: named(others.unattended),
    spiking,
  }
}

async function topByImpact(context: Context, application_id: number | undefined) {
  const top = await impact(context, application_id)
  const errors = await rankedErrors(
    context,
    top.errors.map(({ error_id }) => error_id),
  )
  return {
    impact_since: new Date(top.since).toISOString(),
    users_are_bound: top.users_are_bound,
    top_by_impact: top.errors.flatMap(({ error_id, occurrences, users }): ImpactRow[] => {
      const error = errors.get(error_id)
      return error ? [{ ...error, occurrences, users }] : []
    }),
  }
}

async function multiples(context: Context, application_id: number | undefined, days: readonly number[]) {
  const cuts = days.map(firstHourFrom)
  const series = await sumsBetween(context, { application_id, cuts, by: ['platform', 'app_version'] })
  return { platforms: largest(series, 0, days.length), releases: largest(series, 1, days.length) }
}

/** The values of one dimension that occurred most; what has none is no platform, and no release. */
function largest(series: readonly Series[], dimension: 0 | 1, days: number): Multiple[] {
  const multiples = new Map<string, Multiple>()
  for (const { values, counts } of series) {
    const name = values[dimension] ?? ''
    const multiple = multiples.get(name) ?? { name, total: 0, daily: new Array<number>(days).fill(0) }
    multiples.set(name, multiple)
    for (const [day, count] of counts.entries()) {
      multiple.total += count
      multiple.daily[day] = (multiple.daily[day] ?? 0) + count
    }
  }
  return [...multiples.values()]
    .filter(({ name, total }) => name !== '' && total > 0)
    .sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1))
    .slice(0, MULTIPLES)
}
