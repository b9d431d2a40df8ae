import type { Context } from '../context.js'
import { DAY, HOUR } from '../model/time.js'
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

const IDS_AT_ONCE = 200
const SLICE = 3 * DAY

/** The pairs that move together most closely. */
export async function timeCorrelation(context: Context, scope: Scope, span: Span): Promise<CorrelatedTypes[]> {
  const types = (await typeCounts(context, scope, span)).slice(0, COMPARED_TYPES)
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
  const series = new Map(types.map((type) => [type, new Array<number>(hours).fill(0)]))
  const ids = await idsOf(context, scope, span, types)
  for (let i = 0; i < ids.length; i += IDS_AT_ONCE) {
    for (let from = span.from; from < span.to; from += SLICE) {
      const part = { from, to: Math.min(from + SLICE, span.to) }
      for (const { error_type, hour, count } of await sumsOf(context, ids.slice(i, i + IDS_AT_ONCE), part)) {
        const counts = series.get(error_type)
        const index = Math.round((hour - span.from) / HOUR)
        if (counts) counts[index] = (counts[index] ?? 0) + count
      }
    }
  }
  return series
}

async function idsOf(
  { database }: Context,
  { application_id }: Scope,
  { from }: Span,
  types: readonly string[],
): Promise<number[]> {
  if (types.length === 0) return []
  const rows = await database.read
    .selectFrom('faultboard_errors')
    .select('id')
    .where('error_type', 'in', [...types])
    .where('occurred_at', '>=', from)
    .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
    .execute()
  return rows.map(({ id }) => id)
}

async function sumsOf({ database }: Context, ids: readonly number[], { from, to }: Span) {
  return database.read
    .selectFrom('faultboard_error_hours as h')
    .innerJoin('faultboard_errors as e', 'e.id', 'h.error_id')
    .select(({ fn }) => ['e.error_type', 'h.hour', fn.sum<number>('h.count').as('count')])
    .where('h.error_id', 'in', [...ids])
    .where('h.hour', '>=', from)
    .where('h.hour', '<', to)
    .groupBy(['e.error_type', 'h.hour'])
    .execute()
}
