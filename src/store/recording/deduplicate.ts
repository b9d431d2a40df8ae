import type { ErrorEvent } from '../../model/event.js'
import { startOfHour } from '../../model/time.js'
import { REPORTED_EVENTS } from '../bulk/bulk-targets.js'
import type { Dialect } from '../dialect.js'
import type { Transaction } from '../kysely.js'
import type { Schema } from '../schema.js'
import { FoldedGroup, hourKey, type IdentifiedEvent } from './folded-group.js'

export interface Deduplicated {
  /** Groups without the events that were counted before. */
  groups: readonly FoldedGroup[]
  /** Positions of the events that were counted before, by group key. */
  repeated: Map<string, ReadonlySet<number>>
}

interface EventMarker {
  application_id: number
  batch_id: string
  now: number
}

/**
 * Drops events that this or another process has already counted. Clients resend a report when they receive no response.
 * The transaction that counts an event also stores its digest. A concurrent transaction with the same digest waits until
 * the first transaction ends.
 */
export async function dropDuplicates(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly FoldedGroup[],
  marker: EventMarker,
): Promise<Deduplicated> {
  const repeated = new Map<string, ReadonlySet<number>>()
  const digests = new Set(groups.flatMap(({ identified }) => identified.map(({ event_digest }) => event_digest)))
  if (digests.size === 0) return { groups, repeated }
  const newDigests = await storeDigests(trx, dialect, [...digests].sort(), marker)
  const remaining = groups.flatMap((group) => {
    const duplicates = group.identified.filter(({ event_digest }) => !newDigests.delete(event_digest))
    if (duplicates.length > 0) repeated.set(group.key, new Set(duplicates.map(({ position }) => position)))
    return withoutEvents(group, duplicates) ?? []
  })
  return { groups: remaining, repeated }
}

/** Returns the digests that were not stored before. Expects sorted digests, so that row locks cannot deadlock. */
async function storeDigests(
  trx: Transaction<Schema>,
  dialect: Dialect,
  digests: readonly string[],
  { application_id, batch_id, now }: EventMarker,
): Promise<Set<string>> {
  const rows = digests.map((event_digest) => [application_id, event_digest, batch_id, now])
  const returned = await dialect.insertMany(trx, REPORTED_EVENTS, rows)
  const inserted = returned ?? (await readDigests(trx, digests, application_id, batch_id))
  return new Set(inserted.map(({ event_digest }) => String(event_digest)))
}

const DIGESTS_PER_STATEMENT = 500

/** Needed for databases that do not return inserted rows. */
async function readDigests(
  trx: Transaction<Schema>,
  digests: readonly string[],
  application_id: number,
  batch_id: string,
): Promise<{ event_digest: string }[]> {
  const rows: { event_digest: string }[] = []
  for (let from = 0; from < digests.length; from += DIGESTS_PER_STATEMENT) {
    const found = await trx
      .selectFrom('faultboard_reported_events')
      .select('event_digest')
      .where('application_id', '=', application_id)
      .where('event_digest', 'in', digests.slice(from, from + DIGESTS_PER_STATEMENT))
      .where('batch_id', '=', batch_id)
      .execute()
    rows.push(...found)
  }
  return rows
}

/** Returns a copy of the group without these events, or null if no event remains. */
function withoutEvents(group: FoldedGroup, removed: readonly IdentifiedEvent[]): FoldedGroup | null {
  if (removed.length === 0) return group
  if (removed.length >= group.count) return null
  const removedDigests = new Set(removed.map(({ event_digest }) => event_digest))
  const isRemoved = ({ event_digest = '' }: ErrorEvent) => removedDigests.has(event_digest)
  const kept = withoutLatest(group.kept, removed)
  const remaining = [...kept, ...[group.oldest, group.newest].filter((event) => !isRemoved(event))]
  const newest = remaining.reduce(
    (last, event) => (event.occurred_at > last.occurred_at ? event : last),
    remaining[0] ?? group.newest,
  )
  const oldest = remaining.reduce(
    (first, event) => (event.occurred_at < first.occurred_at ? event : first),
    remaining[0] ?? group.oldest,
  )
  const hours = [...group.hours.values()]
  const users = [...group.users.values()]
  const copy = FoldedGroup.fromJSON({
    ...{ oldest, newest, count: group.count - removed.length },
    // The error page needs at least one occurrence row per group.
    kept: kept.length > 0 ? kept : [newest],
    hours: hours.map((sum) => ({ ...sum })),
    users: users.map((sum) => ({ ...sum })),
    // The commit of a repeated event is already stored.
    commits: [...group.commits],
  })
  for (const event of removed) subtract(copy, event)
  return copy
}

function subtract(
  { hours, users }: FoldedGroup,
  { occurred_at, app_version, user_id, ...event }: IdentifiedEvent,
): void {
  decrement(hours, hourKey({ ...event, hour: startOfHour(occurred_at), app_version: app_version ?? '' }))
  if (user_id !== null) decrement(users, user_id)
}

function decrement(sums: Map<string, { count: number }>, key: string): void {
  const sum = sums.get(key)
  if (sum && --sum.count === 0) sums.delete(key)
}

/** Removes the latest events first: if a group contains a digest twice, its first event was counted. */
function withoutLatest(kept: readonly ErrorEvent[], removed: readonly IdentifiedEvent[]): ErrorEvent[] {
  const removals = new Map<string, number>()
  for (const { event_digest } of removed) removals.set(event_digest, (removals.get(event_digest) ?? 0) + 1)
  return kept
    .toReversed()
    .filter(({ event_digest = '' }) => {
      const pending = removals.get(event_digest) ?? 0
      if (pending > 0) removals.set(event_digest, pending - 1)
      return pending === 0
    })
    .reverse()
}
