import { type SeenRelease, sortReleases } from '../model/releases/releases.js'
import { type Kysely, sql } from './kysely.js'
import type { Schema } from './schema.js'

/** Versions reported by clients are unverified, so client and server releases are never compared with each other. */
export type Reporter = 'server' | 'client'

export function releaseReporter({ source }: { source: string | null }): Reporter {
  return source === null ? 'server' : 'client'
}

const TABLES = { server: 'faultboard_releases', client: 'faultboard_client_releases' } as const

/** Scope of a search for the newest release. Versions of different platforms are unrelated. */
export interface ReleaseScope {
  application_id: number
  environment: string
  reporter: Reporter
  platform: string
  at: number
}

/** Limits the candidates. The newest release by version is assumed to be among the most recently seen. */
const MAX_CANDIDATES = 200

/** Returns a cached lookup of the newest release on a platform at a time. */
export function createNewestReleaseLookup(db: Kysely<Schema>): (scope: ReleaseScope) => Promise<SeenRelease | null> {
  const cache = new Map<string, SeenRelease | null>()
  return async ({ application_id, environment, reporter, platform, at }) => {
    const key = `${application_id}\n${environment}\n${reporter}\n${platform}\n${at}`
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const releases = await db
      .selectFrom(TABLES[reporter])
      .select(['version as name', 'first_seen_at'])
      .where('application_id', '=', application_id)
      .where('platform', '=', platform)
      .where('environment', '=', environment)
      .where('first_seen_at', '<=', at)
      .orderBy('first_seen_at', 'desc')
      .orderBy('version', 'desc')
      .limit(MAX_CANDIDATES)
      .execute()
    const newest = sortReleases(releases).at(-1) ?? null
    cache.set(key, newest)
    return newest
  }
}

/** Returns when each release was first seen, by release key. */
export async function firstSeenTimes(
  db: Kysely<Schema>,
  { application_id, reporter }: Pick<ReleaseScope, 'application_id' | 'reporter'>,
  releases: readonly PlatformRelease[],
): Promise<Map<string, number>> {
  if (releases.length === 0) return new Map()
  const platforms = [...new Set(releases.map(({ platform }) => platform))]
  const versions = [...new Set(releases.map(({ name }) => name))]
  const environments = [...new Set(releases.map(({ environment }) => environment))]
  // Runs in every flush. Raw SQL takes half the time of the query builder.
  const { rows } = await sql<PlatformRelease & { first_seen_at: number }>`
    select platform, environment, version as name, first_seen_at from ${sql.table(TABLES[reporter])}
    where application_id = ${application_id}
      and platform in (${sql.join(platforms)}) and version in (${sql.join(versions)})
      and environment in (${sql.join(environments)})`.execute(db)
  return new Map(rows.map((row) => [releaseKey(row), row.first_seen_at]))
}

/** Release as one platform and environment runs it. */
export interface PlatformRelease {
  platform: string
  environment: string
  name: string
}

export function releaseKey({ platform, environment, name }: PlatformRelease): string {
  return `${platform}\n${name}\n${environment}`
}
