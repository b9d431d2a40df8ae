import type { ErrorEvent } from '../model/event.js'
import { RELEASES } from './bulk-targets.js'
import type { Dialect } from './dialect.js'
import type { FoldedGroup } from './fold.js'
import type { Transaction } from './kysely.js'
import type { Schema } from './schema.js'

/** What tells one release from another: its version, or the commit where there is none. */
export function releaseOf({ app_version, git_sha }: Pick<ErrorEvent, 'app_version' | 'git_sha'>): string | null {
  return app_version ?? git_sha
}

interface Sight {
  platform: string
  version: string
  first_seen_at: number
}

/** Notes when each release was first seen; one that is known already and not seen earlier stays as it is. */
export async function noteReleases(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly FoldedGroup[],
  application_id: number,
): Promise<void> {
  const sights = firstSights(groups)
  if (sights.size === 0) return
  const known = await trx
    .selectFrom('faultboard_releases')
    .select(['platform', 'version', 'first_seen_at'])
    .where('application_id', '=', application_id)
    .where('version', 'in', [...new Set([...sights.values()].map(({ version }) => version))])
    .execute()
  for (const row of known) {
    const sight = sights.get(keyOf(row))
    if (sight && row.first_seen_at <= sight.first_seen_at) sights.delete(keyOf(row))
  }
  if (sights.size === 0) return
  // In one order for every process, so that two flushes wait for each other rather than deadlock.
  const inOrder = [...sights].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sight]) => sight)
  const rows = inOrder.map(({ platform, version, first_seen_at }) => [application_id, platform, version, first_seen_at])
  await dialect.insertMany(trx, RELEASES, rows)
}

function firstSights(groups: readonly FoldedGroup[]): Map<string, Sight> {
  const sights = new Map<string, Sight>()
  for (const { oldest, newest, kept } of groups) {
    for (const event of [oldest, newest, ...kept]) {
      const version = releaseOf(event)
      if (version === null) continue
      const { platform, occurred_at: first_seen_at } = event
      const key = keyOf({ platform, version })
      const known = sights.get(key)
      if (!known || first_seen_at < known.first_seen_at) sights.set(key, { platform, version, first_seen_at })
    }
  }
  return sights
}

function keyOf({ platform, version }: { platform: string; version: string }): string {
  return `${platform}\n${version}`
}
