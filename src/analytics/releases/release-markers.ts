import type * as v from 'valibot'
import type { Context } from '../../context.js'
import { type Scope, scopeKey } from '../../model/input/scope.js'
import { releaseVersion } from '../../model/releases/releases.js'
import * as r from '../../model/result.js'
import { cachedQuery } from '../cached-query.js'
import type { Span } from '../sums/period.js'
import { sumsInScope } from '../sums/scope-conditions.js'

/** Release that a chart marks at the time when it was first seen. */
export const ReleaseMarker = r.object({ application_id: r.integer, app_version: r.text, first_seen_at: r.time })
export type ReleaseMarker = v.InferOutput<typeof ReleaseMarker>

/** More lines than this would hide the bars. */
const MAX_MARKERS = 20

/** Releases of the server, oldest first. Clients are ignored, because they can report any version. */
export async function loadReleaseTimes(context: Context, scope: Scope): Promise<ReleaseMarker[]> {
  const rows = await context.database.read
    .selectFrom('faultboard_releases')
    .select(({ fn }) => ['application_id', 'version', fn.min<number>('first_seen_at').as('first_seen_at')])
    .where(await sumsInScope(context, scope))
    .groupBy(['application_id', 'version'])
    .orderBy('first_seen_at')
    .execute()
  const releases = new Map<string, ReleaseMarker>()
  for (const { application_id, version, first_seen_at } of rows) {
    const app_version = releaseVersion(version)
    const key = JSON.stringify([application_id, app_version])
    // Another commit of a known version is not a new release.
    if (!releases.has(key))
      releases.set(key, { application_id, app_version, first_seen_at: new Date(Number(first_seen_at)).toISOString() })
  }
  return [...releases.values()]
}

/** Cached result of `loadReleaseTimes`, at most a few minutes old. */
export async function cachedReleaseTimes(context: Context, scope: Scope): Promise<ReleaseMarker[]> {
  const cacheKey = `releases of ${scopeKey(scope)}`
  return (await cachedQuery(context, cacheKey, () => loadReleaseTimes(context, scope))).value
}

/** Newest releases within the span of a chart. */
export function markersWithin(releases: readonly ReleaseMarker[], { from, to }: Span): ReleaseMarker[] {
  return releases
    .filter(({ first_seen_at }) => Date.parse(first_seen_at) >= from && Date.parse(first_seen_at) < to)
    .slice(-MAX_MARKERS)
}
