import type * as v from 'valibot'
import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { HOUR } from '../../model/time.js'
import { packedRows } from '../../store/bulk/packed-rows.js'
import type { RawBuilder } from '../../store/kysely.js'
import { periodicYield } from '../sums/event-loop-yield.js'
import type { Span } from '../sums/period.js'
import { sumsInScope } from '../sums/scope-conditions.js'
import { timedHours } from '../sums/timed-hours.js'
import { typeCounts } from '../sums/type-counts.js'

/** Two error types whose occurrences rise and fall in the same hours. */
export const CorrelatedTypes = r.object({
  error_types: r.pair(r.text),
  /** Pearson's coefficient over all hours of the period, including empty hours. */
  correlation: r.number,
  /** Hours in which both occurred. */
  shared_hours: r.integer,
  counts: r.pair(r.integer),
})
export type CorrelatedTypes = v.InferOutput<typeof CorrelatedTypes>

/** Every pair of types is compared: 4,950 pairs for 100 types. */
export const MAX_COMPARED_TYPES = 100
export const MAX_CORRELATED_PAIRS = 50
export const MIN_CORRELATION = 0.7
/** With only one or two shared hours, a high coefficient is meaningless. */
export const MIN_SHARED_HOURS = 3

/** Pairs of types whose hourly counts correlate, strongest first. */
export async function timeCorrelation(context: Context, scope: Scope, span: Span): Promise<CorrelatedTypes[]> {
  const { types } = await typeCounts(context, scope, span, MAX_COMPARED_TYPES)
  const series = await loadHourlySeries(
    context,
    scope,
    span,
    types.map(({ error_type }) => error_type),
  )
  const hours = Math.round((span.to - span.from) / HOUR)
  const yieldIfDue = periodicYield()
  const pairs: CorrelatedTypes[] = []
  for (const [i, a] of series.entries()) {
    await yieldIfDue()
    for (const b of series.slice(i + 1)) {
      const { correlation, shared_hours } = correlateSeries(a, b, hours)
      if (shared_hours < MIN_SHARED_HOURS || correlation < MIN_CORRELATION) continue
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

/** Hourly counts of a type. */
interface HourlySeries {
  error_type: string
  /** Counts by hour of the span. A typed array, because thousands of pairs are compared. */
  counts: Float64Array
  /** Positions of the hours with occurrences. */
  positions: number[]
  sum: number
  sumOfSquares: number
}

/** Pearson's coefficient over all hours. Only shared hours add to the sum of products, so empty hours cost nothing. */
function correlateSeries(
  a: HourlySeries,
  b: HourlySeries,
  hours: number,
): { correlation: number; shared_hours: number } {
  const [smaller, larger] = a.positions.length < b.positions.length ? [a, b] : [b, a]
  let [products, shared_hours] = [0, 0]
  for (const position of smaller.positions) {
    const other = larger.counts[position] as number
    if (other === 0) continue
    products += (smaller.counts[position] as number) * other
    shared_hours++
  }
  const variances = (a.sumOfSquares - a.sum ** 2 / hours) * (b.sumOfSquares - b.sum ** 2 / hours)
  if (variances <= 0) return { correlation: 0, shared_hours }
  // Rounding can exceed 1 slightly.
  return { correlation: Math.min(1, (products - (a.sum * b.sum) / hours) / Math.sqrt(variances)), shared_hours }
}

async function loadHourlySeries(
  context: Context,
  scope: Scope,
  span: Span,
  types: readonly string[],
): Promise<HourlySeries[]> {
  const isInScope = await sumsInScope(context, scope)
  const length = Math.ceil((span.to - span.from) / HOUR)
  const series = new Map(types.map((type) => [type, new Float64Array(length)]))
  if (types.length > 0) {
    for await (const slice of timedHours(context, span)) {
      for (const { error_type, hour, count } of await loadTypeHours(context, isInScope, types, slice)) {
        const counts = series.get(error_type)
        const position = (hour - span.from) / HOUR
        if (counts) counts[position] = (counts[position] ?? 0) + count
      }
    }
  }
  return [...series].map(([error_type, counts]) => {
    const positions: number[] = []
    let [sum, sumOfSquares] = [0, 0]
    counts.forEach((count, position) => {
      if (count === 0) return
      positions.push(position)
      sum += count
      sumOfSquares += count * count
    })
    return { error_type, counts, positions, sum, sumOfSquares }
  })
}

function loadTypeHours(
  { database }: Context,
  isInScope: RawBuilder<boolean>,
  types: readonly string[],
  { from, to }: Span,
): Promise<{ error_type: string; hour: number; count: number }[]> {
  const query = database.read
    .selectFrom('faultboard_type_hours')
    .select(['error_type', 'hour', 'count'])
    .where(isInScope)
    .where('error_type', 'in', types)
    .where('hour', '>=', from)
    .where('hour', '<', to)
  return packedRows(database, query, ['error_type', 'hour', 'count'])
}
