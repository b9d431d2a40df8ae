import type { Context } from '../context.js'
import { HOUR } from '../model/time.js'
import { packedRows } from '../store/packed-rows.js'
import { askedApplications } from './application-filter.js'
import { daySlices } from './day-parts.js'
import type { Scope } from './hour-sums.js'
import type { Span } from './period.js'
import { pearson } from './statistics.js'
import { typeCounts } from './type-counts.js'

/** Two error types whose occurrences rise and fall in the same hours. */
export interface CorrelatedTypes {
  error_types: [string, string]
  /** Pearson's coefficient over the hours of the period, empty ones included. */
  correlation: number
  /** Hours in which both occurred. */
  shared_hours: number
  counts: [number, number]
}

/** Only the most frequent types are compared, each with each. */
export const COMPARED_TYPES = 12
export const LEAST_CORRELATION = 0.7
/** Two types that met once or twice have a high coefficient and no meaning. */
export const LEAST_SHARED_HOURS = 3

/** The pairs that move together most closely. */
export async function timeCorrelation(context: Context, scope: Scope, span: Span): Promise<CorrelatedTypes[]> {
  const { types } = await typeCounts(context, scope, span, COMPARED_TYPES)
  const series = await hourlySeries(
    context,
    scope,
    span,
    types.map(({ error_type }) => error_type),
  )
  const pairs = types.flatMap((a, i) =>
    types.slice(i + 1).flatMap((b): CorrelatedTypes[] => {
      const [ofA, ofB] = [series.get(a.error_type) ?? [], series.get(b.error_type) ?? []]
      const correlation = pearson(ofA, ofB)
      const shared_hours = ofA.filter((count, hour) => count > 0 && (ofB[hour] ?? 0) > 0).length
      if (correlation === null || correlation < LEAST_CORRELATION || shared_hours < LEAST_SHARED_HOURS) return []
      return [{ error_types: [a.error_type, b.error_type], correlation, shared_hours, counts: [a.count, b.count] }]
    }),
  )
  return pairs.sort((a, b) => b.correlation - a.correlation || b.shared_hours - a.shared_hours)
}

/** The occurrences of each type in each hour of the span. */
async function hourlySeries(
  context: Context,
  scope: Scope,
  span: Span,
  types: readonly string[],
): Promise<Map<string, number[]>> {
  const hours = Math.round((span.to - span.from) / HOUR)
  const ids = await askedApplications(context, scope)
  const series = new Map(types.map((type) => [type, new Array<number>(hours).fill(0)]))
  if (types.length === 0) return series
  for (const slice of daySlices(context, span, DAYS_AT_ONCE)) {
    for (const { error_type, hour, count } of await hoursOfTypes(context, ids, types, slice)) {
      const counts = series.get(error_type)
      const index = Math.round((hour - span.from) / HOUR)
      if (counts) counts[index] = (counts[index] ?? 0) + count
    }
  }
  return series
}

const DAYS_AT_ONCE = 30

function hoursOfTypes(
  { database }: Context,
  ids: readonly number[],
  types: readonly string[],
  { from, to }: Span,
): Promise<{ error_type: string; hour: number; count: number }[]> {
  const query = database.read
    .selectFrom('faultboard_type_hours')
    .select(['error_type', 'hour', 'count'])
    .where('application_id', 'in', ids)
    .where('error_type', 'in', types)
    .where('hour', '>=', from)
    .where('hour', '<', to)
  return packedRows(database, query, ['error_type', 'hour', 'count'])
}
