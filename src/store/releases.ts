import { compareVersions } from '../model/versions.js'
import type { Kysely } from './kysely.js'
import type { Schema } from './schema.js'

export interface Release {
  version: string
  first_seen_at: number
}

/** Nobody still runs more than these. */
const NEWEST = 200

/** The releases of an application, those that were first seen last at the front. */
export async function releasesOf(db: Kysely<Schema>, application_id: number): Promise<Release[]> {
  return db
    .selectFrom('faultboard_releases')
    .select(['version', 'first_seen_at'])
    .where('application_id', '=', application_id)
    .orderBy('first_seen_at', 'desc')
    .orderBy('version')
    .limit(NEWEST)
    .execute()
}

/** The newest of them, by what their names say, or where those say nothing by when they were first seen. */
export function newestRelease(releases: readonly Release[]): string | null {
  return (
    releases.reduce<Release | null>((newest, one) => (newest && compareReleases(one, newest) <= 0 ? newest : one), null)
      ?.version ?? null
  )
}

/**
 * Whether a release came before (below 0) or after (above 0) another one of the same application; 0 when it is the
 * same, or when one of them was never seen.
 */
export function compareNames(a: string, b: string, releases: readonly Release[]): number {
  const byName = compareVersions(a, b)
  if (byName !== null) return byName
  const [one, other] = [a, b].map((name) => releases.find(({ version }) => version === name))
  return one && other ? Math.sign(one.first_seen_at - other.first_seen_at) : 0
}

function compareReleases(a: Release, b: Release): number {
  return compareVersions(a.version, b.version) ?? Math.sign(a.first_seen_at - b.first_seen_at)
}
