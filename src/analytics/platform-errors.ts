import type { Context } from '../context.js'
import { hoursOfErrors } from './error-hours.js'
import type { Scope } from './hour-sums.js'
import { idRanges } from './id-ranges.js'
import type { Span } from './period.js'
import { firstBy, type RankedError, withErrors } from './ranked-errors.js'

export interface PlatformError extends RankedError {
  /** Occurrences on this platform. */
  count: number
}

/** The errors that occurred most on a platform. */
export async function platformErrors(
  context: Context,
  scope: Scope,
  span: Span,
  platform: string,
  limit: number,
): Promise<PlatformError[]> {
  let first: { id: number; count: number }[] = []
  for await (const range of idRanges(context)) {
    const rows = await hoursOfErrors(context, scope, span, range)
      .select(({ fn }) => ['e.id', fn.sum<number>('h.count').as('count')])
      .where('h.platform', '=', platform)
      .groupBy('e.id')
      .orderBy('count', 'desc')
      .orderBy('e.id')
      .limit(limit)
      .execute()
    first = firstBy([...first, ...rows], ({ count }) => count, limit)
  }
  return withErrors(context, first)
}
