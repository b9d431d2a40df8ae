import type { Context } from '../context.js'
import { hoursOfErrors } from './error-hours.js'
import type { Scope } from './hour-sums.js'
import { idRanges } from './id-ranges.js'
import type { Span } from './period.js'

export interface TypeCount {
  error_type: string
  count: number
  /** How many errors of this type there were. */
  error_count: number
}

/** Occurrences per error type, most frequent first. */
export async function typeCounts(context: Context, scope: Scope, span: Span): Promise<TypeCount[]> {
  const types = new Map<string, TypeCount>()
  for await (const range of idRanges(context)) {
    // Two steps: the type is looked up once per error, not once per hour.
    const rows = await context.database.read
      .selectFrom(
        hoursOfErrors(context, scope, span, range)
          .select(({ fn }) => ['e.id', fn.sum<number>('h.count').as('count')])
          .groupBy('e.id')
          .as('s'),
      )
      .innerJoin('faultboard_errors as t', 't.id', 's.id')
      .select(({ fn }) => ['t.error_type', fn.sum<number>('s.count').as('count'), fn.countAll<number>().as('total')])
      .groupBy('t.error_type')
      .execute()
    for (const { error_type, count, total } of rows) {
      const known = types.get(error_type)
      if (known) {
        known.count += count
        known.error_count += total
      } else types.set(error_type, { error_type, count, error_count: total })
    }
  }
  return [...types.values()].sort((a, b) => b.count - a.count || (a.error_type < b.error_type ? -1 : 1))
}
