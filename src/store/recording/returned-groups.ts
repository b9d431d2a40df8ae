import type { ErrorEvent } from '../../model/event.js'
import { commitIn, compareReleases, releaseName, type SeenRelease, versionIn } from '../../model/releases.js'
import { ACTIVITIES } from '../bulk-targets.js'
import type { Dialect } from '../dialect.js'
import type { Transaction } from '../kysely.js'
import { firstSights, newestReleases, type Reporter, releaseKey, reporterOf } from '../releases.js'
import type { Schema } from '../schema.js'
import type { GroupRow, ReturnedGroup } from './batch.js'
import type { FoldedGroup } from './fold.js'
import { severitySince } from './raise-severities.js'

/**
 * The resolved groups that have come back, by their signatures. A release that had been seen when an error was resolved,
 * and was older than the newest there was, cannot have its fix: what is still out there goes on to report it, and that
 * reopens nothing. Only releases of one platform are compared: the versions of an app for telephones say nothing about
 * its server.
 */
export async function returnedGroups(
  trx: Transaction<Schema>,
  groups: readonly FoldedGroup[],
  rows: ReadonlyMap<string, GroupRow>,
  application_id: number,
): Promise<Map<string, ReturnedGroup>> {
  const returned = new Map<string, ReturnedGroup>()
  const suspects = groups.flatMap((group) => {
    const row = rows.get(group.hash_signature)
    if (row?.status !== 'resolved') return []
    const resolved_at = row.resolved_at ?? 0
    const since = [...group.kept, group.newest].filter(({ occurred_at }) => occurred_at > resolved_at)
    if (since.length === 0) return []
    return [
      { row, resolved_at, releases: releasesOf(since), severity: severitySince(group, resolved_at) ?? group.severity },
    ]
  })
  if (suspects.length === 0) return returned
  const sightsFor = async (reporter: Reporter) => {
    const named = suspects
      .filter(({ row }) => reporterOf(row) === reporter)
      .flatMap(({ releases }) => releases.flatMap(({ platform, name }) => (name ? [{ platform, name }] : [])))
    return firstSights(trx, { application_id, reporter }, named)
  }
  const sightsBy = { server: await sightsFor('server'), client: await sightsFor('client') }
  const newestRelease = newestReleases(trx)
  for (const { row, resolved_at, releases, severity } of suspects) {
    const orders: Order[] = []
    const reporter = reporterOf(row)
    const sights = sightsBy[reporter]
    for (const { platform, name } of releases) {
      const newest = name && (await newestRelease({ application_id, reporter, platform, at: resolved_at }))
      if (!newest) orders.push({ name, order: 0 })
      else orders.push({ name, order: orderOf(name, sights.get(releaseKey({ platform, name })), newest, resolved_at) })
    }
    if (orders.every(({ order }) => order < 0)) continue
    const { id, resolved_by_name, resolved_in_version } = row
    const newer = orders.find(({ order }) => order > 0)?.name ?? null
    returned.set(row.hash_signature, {
      id,
      severity,
      resolved_by_name,
      resolved_in_version,
      regressed_in_version: newer === null ? null : versionIn(newer),
      regressed_in_commit: newer === null ? null : commitIn(newer),
    })
  }
  return returned
}

/** The releases that have met an error, each once. */
function releasesOf(events: readonly ErrorEvent[]): { platform: string; name: string | null }[] {
  const releases = events.map((event) => ({ platform: event.platform, name: releaseName(event) }))
  return [...new Map(releases.map((release) => [`${release.platform}\n${release.name}`, release])).values()]
}

/** Where a release stands against the newest there was. */
interface Order {
  name: string | null
  order: number
}

/**
 * Whatever cannot be told apart counts as the same release, and one that nobody had seen is never old, whatever its name
 * says: better reopened once too often than never.
 */
function orderOf(name: string, first_seen_at: number | undefined, newest: SeenRelease, resolved_at: number): number {
  const order = compareReleases({ name, first_seen_at: first_seen_at ?? Number.POSITIVE_INFINITY }, newest)
  const wasSeen = first_seen_at !== undefined && first_seen_at <= resolved_at
  return wasSeen ? Math.min(order, 0) : Math.max(order, 0)
}

export async function reopen(
  trx: Transaction<Schema>,
  dialect: Dialect,
  returned: ReadonlyMap<string, ReturnedGroup>,
  now: number,
): Promise<void> {
  if (returned.size === 0) return
  const groups = [...returned.values()]
  const alike = new Map<string, ReturnedGroup[]>()
  for (const group of groups) {
    const key = `${group.severity} ${group.regressed_in_version ?? ''}`
    alike.set(key, [...(alike.get(key) ?? []), group])
  }
  for (const some of alike.values()) await reopenAlike(trx, some, now)
  await dialect.insertMany(
    trx,
    ACTIVITIES,
    groups.map((group) => [group.id, 'Faultboard', ...storyOf(group), now]),
  )
}

/** Reopens groups that have the same severity and came back in the same version. */
async function reopenAlike(trx: Transaction<Schema>, groups: readonly ReturnedGroup[], now: number): Promise<void> {
  const [first] = groups
  if (!first) return
  await trx
    .updateTable('faultboard_errors')
    .set({
      severity: first.severity,
      status: 'new',
      resolved: 0,
      reopened_at: now,
      resolved_at: null,
      resolved_by_name: null,
      resolution_comment: null,
      resolution_reference: null,
      resolved_in_version: null,
      regressed_in_version: first.regressed_in_version,
    })
    .where(
      'id',
      'in',
      groups.map(({ id }) => id),
    )
    .execute()
}

/** What the activity trail says: the action, from, to, and a sentence. */
function storyOf(group: ReturnedGroup): string[] {
  const { resolved_in_version, regressed_in_version, regressed_in_commit } = group
  const by = group.resolved_by_name ?? 'someone'
  if (regressed_in_version === null) {
    return ['reopened', 'resolved', 'new', `It occurred again after ${by} had resolved it.`]
  }
  const isSameVersion = regressed_in_version === resolved_in_version && regressed_in_commit !== null
  const commit = isSameVersion ? ` (${regressed_in_commit.slice(0, SHORT_COMMIT)})` : ''
  const where = resolved_in_version === null ? '' : ` in ${resolved_in_version}`
  return [
    'regressed',
    'resolved',
    'new',
    `It came back in ${regressed_in_version}${commit}, after ${by} had resolved it${where}.`,
  ]
}

const SHORT_COMMIT = 12
