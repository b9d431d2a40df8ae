import type { Context } from '../../context.js'
import { HOUR } from '../../model/time.js'
import { packedRows } from '../../store/packed-rows.js'
import type { Scope } from '../sums/application-filter.js'
import { askedApplications } from '../sums/application-filter.js'
import type { Span } from '../sums/period.js'
import { timedHours } from '../sums/timed-hours.js'
import { turns } from '../sums/turns.js'
import { typeCounts } from '../sums/type-counts.js'

/** Two error types whose occurrences rise and fall in the same hours. */
export interface CorrelatedTypes {
  error_types: [string, string]
  /** Pearson's coefficient over the hours of the period, empty ones included. */
  correlation: number
  /** Hours in which both occurred. */
  shared_hours: number
  counts: [number, number]
}

/** The most frequent types are compared in pairs. The number of pairs grows with its square: 4,950 for 100 types. */
export const COMPARED_TYPES = 100
export const MAX_CORRELATED_PAIRS = 50
export const LEAST_CORRELATION = 0.7
/** Two types that share one or two hours have a high coefficient without any meaning. */
export const LEAST_SHARED_HOURS = 3

/** Pairs of types whose hourly counts correlate, strongest first. */
export async function timeCorrelation(context: Context, scope: Scope, span: Span): Promise<CorrelatedTypes[]> {
  const { types } = await typeCounts(context, scope, span, COMPARED_TYPES)
  const all = await hourlySeries(
    context,
    scope,
    span,
    types.map(({ error_type }) => error_type),
  )
  const hours = Math.round((span.to - span.from) / HOUR)
  const turn = turns()
  const pairs: CorrelatedTypes[] = []
  for (const [i, a] of all.entries()) {
    for (const b of all.slice(i + 1)) {
      await turn()
      const { correlation, shared_hours } = correlationOf(a, b, hours)
      if (shared_hours < LEAST_SHARED_HOURS || correlation < LEAST_CORRELATION) continue
      pairs.push({
        error_types: [a.error_type, b.error_type],
        correlation,
        shared_hours,
        counts: [a.sum, b.sum],
      })
    }
  }
  return pairs
    .sort((a, b) => b.correlation - a.correlation || b.shared_hours - a.shared_hours)
    .slice(0, MAX_CORRELATED_PAIRS)
}

/** Hourly counts of a type, without its empty hours. */
interface HourlySeries {
  error_type: string
  counts: Map<number, number>
  sum: number
  sumOfSquares: number
}

/** Pearson's coefficient over all hours. Only shared hours add to the sum of products, so empty hours cost nothing. */
function correlationOf(a: HourlySeries, b: HourlySeries, hours: number): { correlation: number; shared_hours: number } {
  const [few, many] = a.counts.size < b.counts.size ? [a, b] : [b, a]
  let [products, shared_hours] = [0, 0]
  for (const [hour, count] of few.counts) {
    const other = many.counts.get(hour)
    if (other === undefined) continue
    products += count * other
    shared_hours++
  }
  const variances = (a.sumOfSquares - a.sum ** 2 / hours) * (b.sumOfSquares - b.sum ** 2 / hours)
  if (variances <= 0) return { correlation: 0, shared_hours }
  // Rounding can exceed 1 slightly.
  return { correlation: Math.min(1, (products - (a.sum * b.sum) / hours) / Math.sqrt(variances)), shared_hours }
}

async function hourlySeries(
  context: Context,
  scope: Scope,
  span: Span,
  types: readonly string[],
): Promise<HourlySeries[]> {
  const ids = await askedApplications(context, scope)
  const series = new Map(types.map((type) => [type, new Map<number, number>()]))
  if (types.length > 0) {
    for await (const slice of timedHours(context, span)) {
      for (const { error_type, hour, count } of await hoursOfTypes(context, ids, types, slice)) {
        const counts = series.get(error_type)
        counts?.set(hour, (counts.get(hour) ?? 0) + count)
      }
    }
  }
  return [...series].map(([error_type, counts]) => {
    let [sum, sumOfSquares] = [0, 0]
    for (const count of counts.values()) {
      sum += count
      sumOfSquares += count * count
    }
    return { error_type, counts, sum, sumOfSquares }
  })
}

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
