import { releaseName } from '../../model/releases.js'
import { CLIENT_RELEASES, RELEASES } from '../bulk-targets.js'
import type { Dialect } from '../dialect.js'
import type { Transaction } from '../kysely.js'
import { firstSights, type Reporter, releaseKey } from '../releases.js'
import type { Schema } from '../schema.js'
import type { FoldedGroup } from './fold.js'

interface Sight {
  platform: string
  name: string
  first_seen_at: number
}

/** Stores when each release was first seen. A known release changes only if it was seen earlier. */
export async function noteReleases(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly FoldedGroup[],
  application_id: number,
): Promise<void> {
  const isFromClient = ({ newest }: FoldedGroup) => newest.source !== undefined
  const parts = { trx, dialect, application_id }
  await note(parts, 'server', sightsIn(groups.filter((group) => !isFromClient(group))))
  await note(parts, 'client', sightsIn(groups.filter(isFromClient)))
}

interface NoteParts {
  trx: Transaction<Schema>
  dialect: Dialect
  application_id: number
}

async function note(
  { trx, dialect, application_id }: NoteParts,
  reporter: Reporter,
  sights: ReadonlyMap<string, Sight>,
): Promise<void> {
  if (sights.size === 0) return
  const known = await firstSights(trx, { application_id, reporter }, [...sights.values()])
  // In one order for every process, so that two flushes wait for each other rather than deadlock.
  const rows = [...sights]
    .filter(([key, { first_seen_at }]) => first_seen_at < (known.get(key) ?? Number.POSITIVE_INFINITY))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { platform, name, first_seen_at }]) => [application_id, platform, name, first_seen_at])
  const target = reporter === 'client' ? CLIENT_RELEASES : RELEASES
  if (rows.length > 0) await dialect.insertMany(trx, target, rows)
}

function sightsIn(groups: readonly FoldedGroup[]): Map<string, Sight> {
  const sights = new Map<string, Sight>()
  for (const { oldest, newest, kept } of groups) {
    for (const event of [oldest, newest, ...kept]) {
      const name = releaseName(event)
      if (name === null) continue
      const { platform, occurred_at: first_seen_at } = event
      const key = releaseKey({ platform, name })
      const known = sights.get(key)
      if (!known || first_seen_at < known.first_seen_at) sights.set(key, { platform, name, first_seen_at })
    }
  }
  return sights
}
