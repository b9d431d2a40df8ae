import { compareVersions } from '../model/versions.js'
import type { Kysely } from './kysely.js'
import type { Schema } from './schema.js'

export interface Release {
  platform: string
  version: string
  first_seen_at: number
}

/** Nobody still runs more than these. */
const NEWEST = 200

/** The releases of an application, those that were first seen last at the front. */
export async function releasesOf(db: Kysely<Schema>, application_id: number): Promise<Release[]> {
  return db
    .selectFrom('faultboard_releases')
    .select(['platform', 'version', 'first_seen_at'])
    .where('application_id', '=', application_id)
    .orderBy('first_seen_at', 'desc')
    .orderBy('version')
    .limit(NEWEST)
    .execute()
}

/** The newest release on a platform at a time, by what the names say, or else by when they were first seen. */
export function newestRelease(releases: readonly Release[], platform: string, at: number): Release | null {
  return releases
    .filter((one) => one.platform === platform && one.first_seen_at <= at)
    .reduce<Release | null>((newest, one) => (newest && compareReleases(one, newest) <= 0 ? newest : one), null)
}

/** Below 0 when a release came before another on its platform, above 0 when it came after, 0 when it is the same. */
export function compareReleases(a: Release, b: Release): number {
  return compareVersions(a.version, b.version) ?? Math.sign(a.first_seen_at - b.first_seen_at)
}
