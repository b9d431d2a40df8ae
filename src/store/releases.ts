import { inOrderOfRelease, type SeenRelease } from '../model/releases.js'
import type { Kysely } from './kysely.js'
import type { Schema } from './schema.js'

/** Where and when the newest release is asked for. Versions of another platform say nothing. */
export interface ReleaseQuestion {
  application_id: number
  platform: string
  at: number
}

/** Of so many that were first seen last, one is the newest. */
const LAST_SEEN = 200

/** Finds the newest release on a platform at a time; what was asked before is not asked again. */
export function newestReleases(db: Kysely<Schema>): (question: ReleaseQuestion) => Promise<SeenRelease | null> {
  const known = new Map<string, SeenRelease | null>()
  return async ({ application_id, platform, at }) => {
    const key = `${application_id}\n${platform}\n${at}`
    const found = known.get(key)
    if (found !== undefined) return found
    const releases = await db
      .selectFrom('faultboard_releases')
      .select(['version as name', 'first_seen_at'])
      .where('application_id', '=', application_id)
      .where('platform', '=', platform)
      .where('first_seen_at', '<=', at)
      .orderBy('first_seen_at', 'desc')
      .orderBy('version', 'desc')
      .limit(LAST_SEEN)
      .execute()
    const newest = inOrderOfRelease(releases).at(-1) ?? null
    known.set(key, newest)
    return newest
  }
}

/** When releases were first seen, by their keys. */
export async function firstSights(
  db: Kysely<Schema>,
  application_id: number,
  releases: readonly { platform: string; name: string }[],
): Promise<Map<string, number>> {
  if (releases.length === 0) return new Map()
  const rows = await db
    .selectFrom('faultboard_releases')
    .select(['platform', 'version as name', 'first_seen_at'])
    .where('application_id', '=', application_id)
    .where('platform', 'in', [...new Set(releases.map(({ platform }) => platform))])
    .where('version', 'in', [...new Set(releases.map(({ name }) => name))])
    .execute()
  return new Map(rows.map((row) => [releaseKey(row), row.first_seen_at]))
}

export function releaseKey({ platform, name }: { platform: string; name: string }): string {
  return `${platform}\n${name}`
}
