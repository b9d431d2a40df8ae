import type * as v from 'valibot'
import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { SEVERITIES, type Severity } from '../../model/severity/severity.js'
import { packedRows } from '../../store/bulk/packed-rows.js'
import { withoutIndex } from '../../store/sql/sort-order.js'
import { mean, median, share } from '../statistics.js'
import { localWeeks, type Period } from '../sums/period.js'
import { errorsInScope } from '../sums/scope-conditions.js'

/** Share of the errors seen in the period that are resolved now. */
export const ResolutionRate = r.object({
  error_count: r.integer,
  resolved_count: r.integer,
  resolution_rate: r.number,
})
export type ResolutionRate = v.InferOutput<typeof ResolutionRate>

/** Time from the first occurrence to the resolution, for errors resolved in the period. */
export const ResolutionTimes = r.object({
  resolved_count: r.integer,
  median_ms: r.nullable(r.number),
  mean_ms: r.nullable(r.number),
})
export type ResolutionTimes = v.InferOutput<typeof ResolutionTimes>

export const Resolution = r.object({
  ...ResolutionRate.entries,
  by_severity: r.list(r.object({ severity: r.severity, ...ResolutionRate.entries })),
  /** An error counts toward the platform of its newest occurrence. */
  by_platform: r.list(r.object({ platform: r.text, ...ResolutionRate.entries })),
  time_to_resolve: r.object({
    ...ResolutionTimes.entries,
    by_severity: r.list(r.object({ severity: r.severity, ...ResolutionTimes.entries })),
    by_platform: r.list(r.object({ platform: r.text, ...ResolutionTimes.entries })),
    /** Local weeks starting on Monday, oldest first. */
    by_week: r.list(r.object({ week: r.day, ...ResolutionTimes.entries })),
  }),
})
export type Resolution = v.InferOutput<typeof Resolution>

/** Maximum number of errors, newest first. More would barely change the result. */
const MAX_RESOLVED_ERRORS = 10_000

export async function loadResolution(context: Context, scope: Scope, period: Period): Promise<Resolution> {
  const seen = await countSeenErrors(context, scope, period)
  const resolved = await loadResolvedErrors(context, scope, period)
  const platforms = namesByCount(seen.map(({ platform, error_count }) => [platform, error_count]))
  const weeks = localWeeks(period)
  return {
    ...resolutionRate(seen),
    by_severity: SEVERITIES.map((severity) => ({
      severity,
      ...resolutionRate(seen.filter((row) => row.severity === severity)),
    })),
    by_platform: platforms.map((platform) => ({
      platform,
      ...resolutionRate(seen.filter((row) => row.platform === platform)),
    })),
    time_to_resolve: {
      ...resolutionTimes(resolved),
      by_severity: SEVERITIES.map((severity) => ({
        severity,
        ...resolutionTimes(resolved.filter((row) => row.severity === severity)),
      })),
      by_platform: namesByCount(resolved.map(({ platform }) => [platform, 1])).map((platform) => ({
        platform,
        ...resolutionTimes(resolved.filter((row) => row.platform === platform)),
      })),
      by_week: weeks.map(({ week, from, to }) => ({
        week,
        ...resolutionTimes(resolved.filter(({ resolved_at }) => resolved_at >= from && resolved_at < to)),
      })),
    },
  }
}

interface SeenCounts {
  severity: Severity
  platform: string
  error_count: number
  resolved_count: number
}

async function countSeenErrors(context: Context, scope: Scope, { from }: Period): Promise<SeenCounts[]> {
  const { database } = context
  return (
    database.read
      .selectFrom('faultboard_errors')
      .select(({ fn }) => [
        'severity',
        'platform',
        fn.countAll<number>().as('error_count'),
        fn.sum<number>('resolved').as('resolved_count'),
      ])
      // A full scan is faster than reading half of the rows through an index.
      .where(withoutIndex(database.dialect, 'occurred_at'), '>=', from)
      .where(errorsInScope(context, scope))
      .groupBy(['severity', 'platform'])
      .execute()
  )
}

interface ResolvedError {
  severity: Severity
  platform: string
  first_seen_at: number
  resolved_at: number
}

async function loadResolvedErrors(context: Context, scope: Scope, { from }: Period): Promise<ResolvedError[]> {
  const { database } = context
  const query = database.read
    .selectFrom('faultboard_errors')
    .select(['severity', 'platform', 'first_seen_at', 'resolved_at'])
    .where('resolved_at', '>=', from)
    // Reads in the order of resolution; the application index would read all its errors.
    .where(errorsInScope(context, scope))
    .orderBy('resolved_at', 'desc')
    .limit(MAX_RESOLVED_ERRORS)
  const rows = await packedRows(database, query, ['severity', 'platform', 'first_seen_at', 'resolved_at'])
  return rows.map((row) => ({ ...row, resolved_at: row.resolved_at ?? 0 }))
}

function resolutionRate(rows: readonly SeenCounts[]): ResolutionRate {
  const error_count = rows.reduce((sum, row) => sum + row.error_count, 0)
  const resolved_count = rows.reduce((sum, row) => sum + row.resolved_count, 0)
  return { error_count, resolved_count, resolution_rate: share(resolved_count, error_count) }
}

function resolutionTimes(rows: readonly ResolvedError[]): ResolutionTimes {
  const times = rows.map(({ first_seen_at, resolved_at }) => resolved_at - first_seen_at)
  return { resolved_count: rows.length, median_ms: median(times), mean_ms: mean(times) }
}

/** Distinct names, most frequent first. */
function namesByCount(rows: readonly (readonly [name: string, count: number])[]): string[] {
  const counts = new Map<string, number>()
  for (const [name, count] of rows) counts.set(name, (counts.get(name) ?? 0) + count)
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([name]) => name)
}
