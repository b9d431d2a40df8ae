import type { ErrorEvent } from '../model/event.js'
import { ACTIVITIES } from './bulk-targets.js'
import type { Dialect } from './dialect.js'
import type { FoldedGroup } from './fold.js'
import type { Transaction } from './kysely.js'
import { releaseOf } from './note-releases.js'
import type { GroupRow } from './record-batch.js'
import { compareReleases, newestRelease, type Release, releasesOf } from './releases.js'
import type { Schema } from './schema.js'

export interface ReturnedGroup {
  id: number
  resolved_by_name: string | null
  resolved_in_version: string | null
  /** The release it came back in, where that is newer than the newest there was when it was resolved. */
  regressed_in_version: string | null
}

/**
 * The resolved groups that have come back, by their signatures. A release older than the newest there was when an error
 * was resolved cannot have its fix: what is still out there goes on to report it, and that reopens nothing. Only
 * releases of one platform are compared: the versions of an app for telephones say nothing about its server.
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
    const resolved_at = row.resolved_at ?? 0
    const since = [...group.kept, group.newest].filter(({ occurred_at }) => occurred_at > resolved_at)
    if (since.length === 0) continue
    releases ??= await releasesOf(trx, application_id)
    const orders = ordersOf(since, releases, resolved_at)
    if (orders.every(({ order }) => order < 0)) continue
    const { id, resolved_by_name, resolved_in_version } = row
    const regressed_in_version = orders.find(({ order }) => order > 0)?.release ?? null
    returned.set(group.hash_signature, { id, resolved_by_name, resolved_in_version, regressed_in_version })
  }
  return returned
}

/** Where each release that has met it since then stands against the newest there was. */
function ordersOf(events: readonly ErrorEvent[], releases: readonly Release[], resolved_at: number) {
  const orders = new Map<string, { release: string | null; order: number }>()
  for (const event of events) {
    const release = releaseOf(event)
    const key = `${event.platform}\n${release}`
    if (!orders.has(key)) orders.set(key, { release, order: orderOf(event, release, releases, resolved_at) })
  }
  return [...orders.values()]
}

/** Whatever cannot be told apart counts as the same release: better reopened once too often than never. */
function orderOf(
  { platform, occurred_at }: ErrorEvent,
  version: string | null,
  releases: readonly Release[],
  resolved_at: number,
): number {
  const newest = newestRelease(releases, platform, resolved_at)
  if (version === null || newest === null) return 0
  const known = releases.find((one) => one.platform === platform && one.version === version)
  return compareReleases(known ?? { platform, version, first_seen_at: occurred_at }, newest)
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
  const where = resolved_in_version === null ? '' : ` in ${resolved_in_version}`
  return [
    'regressed',
    'resolved',
    'new',
    `It came back in ${regressed_in_version}, after ${by} had resolved it${where}.`,
  ]
}
