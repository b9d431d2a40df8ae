import type { ErrorEvent } from '../../model/event.js'
import { SYSTEM_ACTOR } from '../../model/people/audit.js'
import {
  compareReleases,
  releaseCommit,
  releaseName,
  releaseVersion,
  type SeenRelease,
} from '../../model/releases/releases.js'
import { ACTIVITIES, AUDIT_ENTRIES } from '../bulk/bulk-targets.js'
import type { Dialect } from '../dialect.js'
import type { Transaction } from '../kysely.js'
import { createNewestReleaseLookup, firstSeenTimes, type Reporter, releaseKey, releaseReporter } from '../releases.js'
import type { Schema } from '../schema.js'
import type { GroupRow, ReopenedGroup } from './batch.js'
import { type FoldedGroup, groupKey } from './folded-group.js'
import { severitySince } from './raise-severities.js'

/**
 * Finds the resolved groups that occurred again, by group key. Occurrences from releases older than the newest release
 * at the time of resolution are expected: those releases cannot contain the fix, so they reopen nothing. Only releases
 * of the same platform and environment are compared: the versions of a mobile app are unrelated to those of its server,
 * and staging runs a release before production does.
 */
export async function findReopenedGroups(
  trx: Transaction<Schema>,
  groups: readonly FoldedGroup[],
  rows: ReadonlyMap<string, GroupRow>,
  application_id: number,
): Promise<Map<string, ReopenedGroup>> {
  const reopened = new Map<string, ReopenedGroup>()
  const candidates = groups.flatMap((group) => {
    const row = rows.get(group.key)
    if (row?.status !== 'resolved') return []
    const resolved_at = row.resolved_at ?? 0
    const since = [...group.kept, group.newest].filter(({ occurred_at }) => occurred_at > resolved_at)
    if (since.length === 0) return []
    const severity = severitySince(group, resolved_at) ?? group.severity
    return [{ row, resolved_at, releases: distinctReleases(since, row.environment), severity }]
  })
  if (candidates.length === 0) return reopened
  const readFirstSeen = async (reporter: Reporter) => {
    const namedReleases = candidates
      .filter(({ row }) => releaseReporter(row) === reporter)
      .flatMap(({ releases }) => releases.flatMap(({ name, ...release }) => (name ? [{ ...release, name }] : [])))
    return firstSeenTimes(trx, { application_id, reporter }, namedReleases)
  }
  const firstSeenByReporter = { server: await readFirstSeen('server'), client: await readFirstSeen('client') }
  const findNewestRelease = createNewestReleaseLookup(trx)
  for (const { row, resolved_at, releases, severity } of candidates) {
    const compared: ComparedRelease[] = []
    const reporter = releaseReporter(row)
    const firstSeen = firstSeenByReporter[reporter]
    for (const { platform, environment, name } of releases) {
      const scope = { application_id, environment, reporter, platform, at: resolved_at }
      const newest = name && (await findNewestRelease(scope))
      const first_seen_at = firstSeen.get(releaseKey({ platform, environment, name: name ?? '' }))
      compared.push({ name, order: newest ? compareWithNewest(name, first_seen_at, newest, resolved_at) : 0 })
    }
    if (compared.every(({ order }) => order < 0)) continue
    const { id, resolved_by_name, resolved_in_version } = row
    const newer = compared.find(({ order }) => order > 0)?.name ?? null
    reopened.set(groupKey(row), {
      id,
      severity,
      resolved_by_name,
      resolved_in_version,
      regressed_in_version: newer === null ? null : releaseVersion(newer),
      regressed_in_commit: newer === null ? null : releaseCommit(newer),
    })
  }
  return reopened
}

function distinctReleases(
  events: readonly ErrorEvent[],
  environment: string,
): { platform: string; environment: string; name: string | null }[] {
  const releases = events.map((event) => ({ platform: event.platform, environment, name: releaseName(event) }))
  return [...new Map(releases.map((release) => [`${release.platform}\n${release.name}`, release])).values()]
}

interface ComparedRelease {
  name: string | null
  /** Negative for a release older than the newest release at the time of resolution, positive for a newer release. */
  order: number
}

/**
 * Releases that cannot be ordered count as equal. A release that was not seen before the resolution never counts as old,
 * regardless of its name: reopening an error once too often is better than missing a regression.
 */
function compareWithNewest(
  name: string,
  first_seen_at: number | undefined,
  newest: SeenRelease,
  resolved_at: number,
): number {
  const order = compareReleases({ name, first_seen_at: first_seen_at ?? Number.POSITIVE_INFINITY }, newest)
  const wasSeen = first_seen_at !== undefined && first_seen_at <= resolved_at
  return wasSeen ? Math.min(order, 0) : Math.max(order, 0)
}

export async function reopenGroups(
  trx: Transaction<Schema>,
  dialect: Dialect,
  reopened: ReadonlyMap<string, ReopenedGroup>,
  now: number,
): Promise<void> {
  if (reopened.size === 0) return
  const groups = [...reopened.values()]
  const bySeverityAndVersion = new Map<string, ReopenedGroup[]>()
  for (const group of groups) {
    const key = `${group.severity} ${group.regressed_in_version ?? ''}`
    bySeverityAndVersion.set(key, [...(bySeverityAndVersion.get(key) ?? []), group])
  }
  for (const sameValues of bySeverityAndVersion.values()) await updateReopened(trx, sameValues, now)
  await dialect.insertMany(
    trx,
    ACTIVITIES,
    groups.map((group) => [group.id, SYSTEM_ACTOR, ...activityValues(group), now]),
  )
  await dialect.insertMany(
    trx,
    AUDIT_ENTRIES,
    groups.map((group) => [now, SYSTEM_ACTOR, 'system', null, 'reopen', group.id, null, null, auditDetail(group)]),
  )
}

function auditDetail({ regressed_in_version }: ReopenedGroup): string {
  return regressed_in_version === null ? 'Occurred again' : `Regressed in ${regressed_in_version}`
}

/** Updates groups that have the same severity and regressed in the same version. */
async function updateReopened(trx: Transaction<Schema>, groups: readonly ReopenedGroup[], now: number): Promise<void> {
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

/** Returns the action, the previous status, the new status and the comment for the activity trail. */
function activityValues(group: ReopenedGroup): string[] {
  const { resolved_in_version, regressed_in_version, regressed_in_commit } = group
  const by = group.resolved_by_name ?? 'someone'
  if (regressed_in_version === null) {
    return ['reopened', 'resolved', 'new', `Occurred again after ${by} resolved it.`]
  }
  const isSameVersion = regressed_in_version === resolved_in_version && regressed_in_commit !== null
  const commit = isSameVersion ? ` (${regressed_in_commit.slice(0, SHORT_COMMIT_LENGTH)})` : ''
  const versionText = resolved_in_version === null ? '' : ` in ${resolved_in_version}`
  return [
    'regressed',
    'resolved',
    'new',
    `Regressed in ${regressed_in_version}${commit} after ${by} resolved it${versionText}.`,
  ]
}

const SHORT_COMMIT_LENGTH = 12
