import type { Context } from '../../context.js'
import { packedRows } from '../../store/packed-rows.js'
import { MANY_IDS, timedRanges } from '../../store/timed-ranges.js'
import type { ErrorPlatform } from './error-platforms.js'

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
  sums: readonly ErrorPlatform[],
  limit: number,
): Promise<CrossPlatformError[]> {
  const names = await namesOf(context, [...new Set(sums.map(({ error_id }) => error_id))])
  const kinds = new Map<string, Found>()
  for (const { error_id, platform, count } of sums) {
    const name = names.get(error_id)
    // Deleted meanwhile.
    if (!name) continue
    const key = `${name.error_type}\n${name.place ?? ''}`
    const kind = kinds.get(key) ?? { ...name, platforms: new Map(), error_ids: new Set() }
    kind.platforms.set(platform, (kind.platforms.get(platform) ?? 0) + count)
    kind.error_ids.add(error_id)
    kinds.set(key, kind)
  }
  return [...kinds.values()]
    .filter(({ platforms }) => platforms.size > 1)
    .map(asResult)
    .sort((a, b) => b.count - a.count || (a.error_ids[0] ?? 0) - (b.error_ids[0] ?? 0))
    .slice(0, limit)
}

interface Name {
  error_type: string
  place: string | null
}

async function namesOf({ database }: Context, ids: readonly number[]): Promise<Map<number, Name>> {
  const names = new Map<number, Name>()
  for await (const { from, to } of timedRanges(database, ids.length, MANY_IDS)) {
    const query = database.read
      .selectFrom('faultboard_errors')
      .select(['id', 'error_type', 'place'])
      .where('id', 'in', ids.slice(from, to))
    for (const { id, ...name } of await packedRows(database, query, ['id', 'error_type', 'place'])) names.set(id, name)
  }
  return names
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
