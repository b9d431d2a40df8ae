import { ACTIVITIES } from './bulk-targets.js'
import type { Dialect } from './dialect.js'
import type { FoldedGroup } from './fold.js'
import type { Transaction } from './kysely.js'
import { releaseOf } from './note-releases.js'
import type { GroupRow } from './record-batch.js'
import { compareNames, type Release, releasesOf } from './releases.js'
import type { Schema } from './schema.js'

export interface ReturnedGroup {
  id: number
  resolved_by_name: string | null
  resolved_in_version: string | null
  /** The release it came back in, where that is newer than the one it was resolved in. */
  regressed_in_version: string | null
}

/**
 * The resolved groups that have come back, by their signatures. A release older than the one in which an error was
 * resolved cannot have its fix: what is still out there goes on to report it, and that reopens nothing.
 */
export async function returnedGroups(
  trx: Transaction<Schema>,
  groups: readonly FoldedGroup[],
  rows: ReadonlyMap<string, GroupRow>,
  application_id: number,
): Promise<Map<string, ReturnedGroup>> {
  const returned = new Map<string, ReturnedGroup>()
  let releases: Release[] | null = null
  for (const group of groups) {
    const row = rows.get(group.hash_signature)
    if (row?.status !== 'resolved') continue
    const seenIn = releasesAfter(group, row.resolved_at ?? 0)
    if (seenIn.length === 0) continue
    if (row.resolved_in_version !== null) releases ??= await releasesOf(trx, application_id)
    const newest = newestReturn(seenIn, row.resolved_in_version, releases ?? [])
    if (newest === null) continue
    const { id, resolved_by_name, resolved_in_version } = row
    returned.set(group.hash_signature, { id, resolved_by_name, resolved_in_version, ...newest })
  }
  return returned
}

/** The releases that have met it since then; null stands for one that does not say its name. */
function releasesAfter({ kept, newest }: FoldedGroup, since: number): (string | null)[] {
  const seen = [...kept, newest].filter(({ occurred_at }) => occurred_at > since).map(releaseOf)
  return [...new Set(seen)]
}

function newestReturn(
  seenIn: readonly (string | null)[],
  resolvedIn: string | null,
  releases: readonly Release[],
): { regressed_in_version: string | null } | null {
  if (resolvedIn === null) return { regressed_in_version: null }
  const orders = seenIn.map((version) => ({
    version,
    order: version === null ? 0 : compareNames(version, resolvedIn, releases),
  }))
  const newer = orders.find(({ order }) => order > 0)
  if (newer) return { regressed_in_version: newer.version }
  return orders.some(({ order }) => order === 0) ? { regressed_in_version: null } : null
}

export async function reopen(
  trx: Transaction<Schema>,
  dialect: Dialect,
  returned: ReadonlyMap<string, ReturnedGroup>,
  now: number,
): Promise<void> {
  if (returned.size === 0) return
  const groups = [...returned.values()]
  for (const regressed_in_version of new Set(groups.map((group) => group.regressed_in_version))) {
    await trx
      .updateTable('faultboard_errors')
      .set({
        status: 'new',
        resolved: 0,
        reopened_at: now,
        resolved_at: null,
        resolved_by_name: null,
        resolution_comment: null,
        resolution_reference: null,
        resolved_in_version: null,
        regressed_in_version,
      })
      .where(
        'id',
        'in',
        groups.filter((group) => group.regressed_in_version === regressed_in_version).map(({ id }) => id),
      )
      .execute()
  }
  await dialect.insertMany(
    trx,
    ACTIVITIES,
    groups.map((group) => [group.id, 'Faultboard', ...storyOf(group), now]),
  )
}

/** What the activity trail says: the action, from, to, and a sentence. */
function storyOf({ resolved_by_name, resolved_in_version, regressed_in_version }: ReturnedGroup): string[] {
  const by = resolved_by_name ?? 'someone'
  if (regressed_in_version === null) {
    return ['reopened', 'resolved', 'new', `It occurred again after ${by} had resolved it.`]
  }
  return [
    'regressed',
    'resolved',
    'new',
    `It came back in ${regressed_in_version}, after ${by} had resolved it in ${resolved_in_version}.`,
  ]
}
