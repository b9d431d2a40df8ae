import type * as v from 'valibot'
import type { Context } from '../../context.js'
import * as r from '../../model/result.js'
import { packedRows } from '../../store/bulk/packed-rows.js'
import { ID_LIST_LIMITS, timedRanges } from '../../store/sql/timed-ranges.js'
import { loadRankedErrors } from '../ranked-errors.js'
import type { ErrorPlatform } from './error-platforms.js'

/** Error type at one location that occurs on several platforms. */
export const CrossPlatformError = r.object({
  error_type: r.text,
  place: r.nullable(r.text),
  /** Message of the oldest error. */
  message: r.text,
  count: r.integer,
  /** Most occurrences first. */
  platforms: r.list(r.object({ platform: r.text, count: r.integer })),
  /** Underlying errors, oldest first. */
  error_ids: r.list(r.integer),
})
export type CrossPlatformError = v.InferOutput<typeof CrossPlatformError>

const MAX_ERROR_IDS = 20

interface PlatformGroup {
  error_type: string
  place: string | null
  platforms: Map<string, number>
  error_ids: Set<number>
}

/** Errors on at least two platforms, most occurrences first. */
export async function crossPlatformErrors(
  context: Context,
  sums: readonly ErrorPlatform[],
  limit: number,
): Promise<CrossPlatformError[]> {
  const identities = await loadIdentities(context, [...new Set(sums.map(({ error_id }) => error_id))])
  const groups = new Map<string, PlatformGroup>()
  for (const { error_id, platform, count } of sums) {
    const identity = identities.get(error_id)
    // The error was deleted concurrently.
    if (!identity) continue
    const key = `${identity.error_type}\n${identity.place ?? ''}`
    const group = groups.get(key) ?? { ...identity, platforms: new Map(), error_ids: new Set() }
    group.platforms.set(platform, (group.platforms.get(platform) ?? 0) + count)
    group.error_ids.add(error_id)
    groups.set(key, group)
  }
  const listed = [...groups.values()]
    .filter(({ platforms }) => platforms.size > 1)
    .map(countGroup)
    .sort((a, b) => b.count - a.count || (a.error_ids[0] ?? 0) - (b.error_ids[0] ?? 0))
    .slice(0, limit)
  const oldest = await loadRankedErrors(
    context,
    listed.flatMap(({ error_ids }) => error_ids.slice(0, 1)),
  )
  return listed.map((group) => ({ ...group, message: oldest.get(group.error_ids[0] ?? 0)?.message ?? '' }))
}

interface ErrorIdentity {
  error_type: string
  place: string | null
}

async function loadIdentities({ database }: Context, ids: readonly number[]): Promise<Map<number, ErrorIdentity>> {
  const identities = new Map<number, ErrorIdentity>()
  for await (const { from, to } of timedRanges(database, ids.length, ID_LIST_LIMITS)) {
    const query = database.read
      .selectFrom('faultboard_errors')
      .select(['id', 'error_type', 'place'])
      .where('id', 'in', ids.slice(from, to))
    for (const { id, ...identity } of await packedRows(database, query, ['id', 'error_type', 'place']))
      identities.set(id, identity)
  }
  return identities
}

function countGroup({ error_type, place, platforms, error_ids }: PlatformGroup): Omit<CrossPlatformError, 'message'> {
  return {
    error_type,
    place,
    count: [...platforms.values()].reduce((sum, count) => sum + count, 0),
    platforms: [...platforms]
      .map(([platform, count]) => ({ platform, count }))
      .sort((a, b) => b.count - a.count || (a.platform < b.platform ? -1 : 1)),
    error_ids: [...error_ids].sort((a, b) => a - b).slice(0, MAX_ERROR_IDS),
  }
}
