import type { Context } from '../context.js'
import { hoursOfErrors } from './error-hours.js'
import type { Scope } from './hour-sums.js'
import { idRanges } from './id-ranges.js'
import type { Span } from './period.js'

/** One kind of error, the same type at the same place, that was met on several platforms. */
export interface CrossPlatformError {
  error_type: string
  place: string | null
  count: number
  /** Most occurrences first. */
  platforms: { platform: string; count: number }[]
  /** The errors behind it, oldest first. */
  error_ids: number[]
}

const MOST_IDS = 20

interface Found {
  error_type: string
  place: string | null
  platforms: Map<string, number>
  error_ids: Set<number>
}

/** What fails on two platforms or more, most occurrences first. */
export async function crossPlatformErrors(
  context: Context,
  scope: Scope,
  span: Span,
  limit: number,
): Promise<CrossPlatformError[]> {
  const kinds = new Map<string, Found>()
  for await (const range of idRanges(context)) {
    const rows = await hoursOfErrors(context, scope, span, range)
      .select(({ fn }) => ['e.id', 'e.error_type', 'e.place', 'h.platform', fn.sum<number>('h.count').as('count')])
      .groupBy(['e.id', 'e.error_type', 'e.place', 'h.platform'])
      .execute()
    for (const { id, error_type, place, platform, count } of rows) {
      const key = `${error_type}\n${place ?? ''}`
      const kind = kinds.get(key) ?? { error_type, place, platforms: new Map(), error_ids: new Set() }
      kind.platforms.set(platform, (kind.platforms.get(platform) ?? 0) + count)
      kind.error_ids.add(id)
      kinds.set(key, kind)
    }
  }
  return [...kinds.values()]
    .filter(({ platforms }) => platforms.size > 1)
    .map(asResult)
    .sort((a, b) => b.count - a.count || (a.error_ids[0] ?? 0) - (b.error_ids[0] ?? 0))
    .slice(0, limit)
}

function asResult({ error_type, place, platforms, error_ids }: Found): CrossPlatformError {
  return {
    error_type,
    place,
    count: [...platforms.values()].reduce((sum, count) => sum + count, 0),
    platforms: [...platforms]
      .map(([platform, count]) => ({ platform, count }))
      .sort((a, b) => b.count - a.count || (a.platform < b.platform ? -1 : 1)),
    error_ids: [...error_ids].sort((a, b) => a - b).slice(0, MOST_IDS),
  }
}
