import { releaseName } from '../../model/releases/releases.js'
import { CLIENT_RELEASES, RELEASES } from '../bulk/bulk-targets.js'
import type { Dialect } from '../dialect.js'
import type { Transaction } from '../kysely.js'
import { firstSeenTimes, type Reporter, releaseKey } from '../releases.js'
import type { Schema } from '../schema.js'
import type { FoldedGroup } from './folded-group.js'
import type { RepeatedRows } from './stored-cache.js'

interface ReleaseSighting {
  platform: string
  environment: string
  name: string
  first_seen_at: number
}

/** Stores when each release was first seen. Updates a known release only with an earlier time. */
export async function recordReleases(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly FoldedGroup[],
  application_id: number,
  repeatedRows: RepeatedRows,
): Promise<void> {
  const isFromClient = ({ newest }: FoldedGroup) => newest.source !== undefined
  const target = { trx, dialect, application_id, repeatedRows }
  await storeSightings(target, 'server', findSightings(groups.filter((group) => !isFromClient(group))))
  await storeSightings(target, 'client', findSightings(groups.filter(isFromClient)))
}

interface SightingTarget {
  trx: Transaction<Schema>
  dialect: Dialect
  application_id: number
  repeatedRows: RepeatedRows
}

async function storeSightings(
  { trx, dialect, application_id, repeatedRows }: SightingTarget,
  reporter: Reporter,
  sightings: ReadonlyMap<string, ReleaseSighting>,
): Promise<void> {
  const cacheKey = (key: string) => `${reporter} release\n${application_id}\n${key}`
  const uncertain = [...sightings].filter(([key, { first_seen_at }]) => !repeatedRows.has(cacheKey(key), first_seen_at))
  if (uncertain.length === 0) return
  const known = await firstSeenTimes(
    trx,
    { application_id, reporter },
    uncertain.map(([, sighting]) => sighting),
  )
  const storedAt = (key: string) => known.get(key) ?? Number.POSITIVE_INFINITY
  for (const [key, { first_seen_at }] of uncertain) {
    repeatedRows.add(cacheKey(key), Math.min(first_seen_at, storedAt(key)))
  }
  // Sorted, so that concurrent flushes cannot deadlock.
  const rows = uncertain
    .filter(([key, { first_seen_at }]) => first_seen_at < storedAt(key))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { platform, environment, name, first_seen_at }]) => [
      ...[application_id, platform, name, environment, first_seen_at],
    ])
  const table = reporter === 'client' ? CLIENT_RELEASES : RELEASES
  if (rows.length > 0) await dialect.insertMany(trx, table, rows)
}

function findSightings(groups: readonly FoldedGroup[]): Map<string, ReleaseSighting> {
  const sightings = new Map<string, ReleaseSighting>()
  for (const { environment, oldest, newest, kept } of groups) {
    for (const event of [oldest, newest, ...kept]) {
      const name = releaseName(event)
      if (name === null) continue
      const { platform, occurred_at: first_seen_at } = event
      const key = releaseKey({ platform, environment, name })
      const known = sightings.get(key)
      if (!known || first_seen_at < known.first_seen_at)
        sightings.set(key, { platform, environment, name, first_seen_at })
    }
  }
  return sightings
}
