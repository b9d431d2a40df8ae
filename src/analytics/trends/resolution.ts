import type { Context } from '../../context.js'
import { SEVERITIES, type Severity } from '../../model/severity.js'
import { packedRows } from '../../store/packed-rows.js'
import { withoutIndex } from '../../store/sort-order.js'
import { mean, median, share } from '../statistics.js'
import type { Scope } from '../sums/application-filter.js'
import { type Period, weeksOf } from '../sums/period.js'

/** Of the errors seen in the period, how many are resolved now. */
export interface ResolutionRate {
  error_count: number
  resolved_count: number
  resolution_rate: number
}

/** How long it took from the first sight of an error until it was resolved, for those resolved in the period. */
export interface ResolutionTimes {
  resolved_count: number
  median_ms: number | null
  mean_ms: number | null
}

export interface Resolution extends ResolutionRate {
  by_severity: ({ severity: Severity } & ResolutionRate)[]
  /** An error counts for the platform of its newest occurrence. */
  by_platform: ({ platform: string } & ResolutionRate)[]
  time_to_resolve: ResolutionTimes & {
    by_severity: ({ severity: Severity } & ResolutionTimes)[]
    by_platform: ({ platform: string } & ResolutionTimes)[]
    /** Local weeks from Monday on, oldest first. */
    by_week: ({ week: string } & ResolutionTimes)[]
  }
}

/** Beyond so many, the newest tell as much. */
const MOST_RESOLVED = 10_000

export async function resolution(context: Context, scope: Scope, period: Period): Promise<Resolution> {
  const seen = await seenErrors(context, scope, period)
  const resolved = await resolvedErrors(context, scope, period)
  const platforms = namesByCount(seen.map(({ platform, error_count }) => [platform, error_count]))
  const weeks = weeksOf(period)
  return {
    ...rateOf(seen),
    by_severity: SEVERITIES.map((severity) => ({
      severity,
      ...rateOf(seen.filter((row) => row.severity === severity)),
    })),
    by_platform: platforms.map((platform) => ({
      platform,
      ...rateOf(seen.filter((row) => row.platform === platform)),
    })),
    time_to_resolve: {
      ...timesOf(resolved),
      by_severity: SEVERITIES.map((severity) => ({
        severity,
        ...timesOf(resolved.filter((row) => row.severity === severity)),
      })),
      by_platform: namesByCount(resolved.map(({ platform }) => [platform, 1])).map((platform) => ({
        platform,
        ...timesOf(resolved.filter((row) => row.platform === platform)),
      })),
      by_week: weeks.map(({ week, from, to }) => ({
        week,
        ...timesOf(resolved.filter(({ resolved_at }) => resolved_at >= from && resolved_at < to)),
      })),
    },
  }
}

interface Seen {
  severity: Severity
  platform: string
  error_count: number
  resolved_count: number
}

async function seenErrors({ database }: Context, { application_id }: Scope, { from }: Period): Promise<Seen[]> {
  return (
    database.read
      .selectFrom('faultboard_errors')
      .select(({ fn }) => [
        'severity',
        'platform',
        fn.countAll<number>().as('error_count'),
        fn.sum<number>('resolved').as('resolved_count'),
      ])
      // All rows in their order are read sooner than half of them through an index.
      .where(withoutIndex(database.dialect, 'occurred_at'), '>=', from)
      .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
      .groupBy(['severity', 'platform'])
      .execute()
  )
}

interface Resolved {
  severity: Severity
  platform: string
  first_seen_at: number
  resolved_at: number
}

async function resolvedErrors({ database }: Context, { application_id }: Scope, { from }: Period): Promise<Resolved[]> {
  const query = database.read
    .selectFrom('faultboard_errors')
    .select(['severity', 'platform', 'first_seen_at', 'resolved_at'])
    .where('resolved_at', '>=', from)
    .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
    .orderBy('resolved_at', 'desc')
    .limit(MOST_RESOLVED)
  const rows = await packedRows(database, query, ['severity', 'platform', 'first_seen_at', 'resolved_at'])
  return rows.map((row) => ({ ...row, resolved_at: row.resolved_at ?? 0 }))
}

function rateOf(rows: readonly Seen[]): ResolutionRate {
  const error_count = rows.reduce((sum, row) => sum + row.error_count, 0)
  const resolved_count = rows.reduce((sum, row) => sum + row.resolved_count, 0)
  return { error_count, resolved_count, resolution_rate: share(resolved_count, error_count) }
}

function timesOf(rows: readonly Resolved[]): ResolutionTimes {
  const times = rows.map(({ first_seen_at, resolved_at }) => resolved_at - first_seen_at)
  return { resolved_count: rows.length, median_ms: median(times), mean_ms: mean(times) }
}

/** Each name once, the most frequent first. */
function namesByCount(rows: readonly (readonly [name: string, count: number])[]): string[] {
  const counts = new Map<string, number>()
  for (const [name, count] of rows) counts.set(name, (counts.get(name) ?? 0) + count)
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([name]) => name)
}
