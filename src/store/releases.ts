import { type SeenRelease, sortReleases } from '../model/releases.js'
import type { Kysely } from './kysely.js'
import type { Schema } from './schema.js'

/** Versions reported by clients are unverified, so client and server releases are never compared with each other. */
export type Reporter = 'server' | 'client'

export function reporterOf({ source }: { source: string | null }): Reporter {
  return source === null ? 'server' : 'client'
}

const TABLES = { server: 'faultboard_releases', client: 'faultboard_client_releases' } as const

/** Where and when the newest release is asked for. Versions of another platform say nothing. */
export interface ReleaseQuestion {
  application_id: number
  reporter: Reporter
  platform: string
  at: number
}

/** Of so many that were first seen last, one is the newest. */
const LAST_SEEN = 200

/** Finds the newest release on a platform at a time; what was asked before is not asked again. */
export function newestReleases(db: Kysely<Schema>): (question: ReleaseQuestion) => Promise<SeenRelease | null> {
  const known = new Map<string, SeenRelease | null>()
  return async ({ application_id, reporter, platform, at }) => {
    const key = `${application_id}\n${reporter}\n${platform}\n${at}`
    const found = known.get(key)
    if (found !== undefined) return found
    const releases = await db
      .selectFrom(TABLES[reporter])
      .select(['version as name', 'first_seen_at'])
      .where('application_id', '=', application_id)
      .where('platform', '=', platform)
      .where('first_seen_at', '<=', at)
      .orderBy('first_seen_at', 'desc')
      .orderBy('version', 'desc')
      .limit(LAST_SEEN)
      .execute()
    const newest = sortReleases(releases).at(-1) ?? null
    known.set(key, newest)
    return newest
  }
}

/** When releases were first seen, by their keys. */
export async function firstSights(
  db: Kysely<Schema>,
  { application_id, reporter }: Pick<ReleaseQuestion, 'application_id' | 'reporter'>,
  releases: readonly { platform: string; name: string }[],
): Promise<Map<string, number>> {
  if (releases.length === 0) return new Map()
  const rows = await db
    .selectFrom(TABLES[reporter])
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
