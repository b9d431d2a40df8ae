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

/** Notes when each release was first seen; one that is known already and not seen earlier stays as it is. */
export async function noteReleases(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly FoldedGroup[],
  application_id: number,
): Promise<void> {
  const first = new Map<string, number>()
  for (const { oldest, newest, kept } of groups) {
    for (const event of [oldest, newest, ...kept]) {
      const release = releaseOf(event)
      if (release === null) continue
      const known = first.get(release)
      if (known === undefined || event.occurred_at < known) first.set(release, event.occurred_at)
    }
  }
  if (first.size === 0) return
  const known = await trx
    .selectFrom('faultboard_releases')
    .select(['version', 'first_seen_at'])
    .where('application_id', '=', application_id)
    .where('version', 'in', [...first.keys()])
    .execute()
  for (const { version, first_seen_at } of known) if (first_seen_at <= (first.get(version) ?? 0)) first.delete(version)
  if (first.size === 0) return
  const rows = [...first].sort(([a], [b]) => (a < b ? -1 : 1)).map(([version, at]) => [application_id, version, at])
  await dialect.insertMany(trx, RELEASES, rows)
}
