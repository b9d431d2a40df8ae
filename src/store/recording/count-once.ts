import { REPORTED_EVENTS } from '../bulk-targets.js'
import type { Dialect } from '../dialect.js'
import type { Transaction } from '../kysely.js'
import type { Schema } from '../schema.js'
import type { FoldedGroup, NumberedEvent } from './fold.js'
import { unfold } from './unfold.js'

/** What is left to be counted, and by signature the positions of those that had been counted before. */
export interface CountedOnce {
  groups: readonly FoldedGroup[]
  repeated: Map<string, ReadonlySet<number>>
}

/**
 * Takes out the events that were counted before, by this process or another: clients send again what they got no answer
 * to. It notes the others in the transaction that counts them. Whoever notes the same one at the same time waits here
 * until the first has been committed, or has failed.
 */
export async function countOnce(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly FoldedGroup[],
  mark: { application_id: number; batch_id: string; now: number },
): Promise<CountedOnce> {
  const repeated = new Map<string, ReadonlySet<number>>()
  const digests = new Set(groups.flatMap(({ numbered }) => numbered.map(({ event_digest }) => event_digest)))
  if (digests.size === 0) return { groups, repeated }
  const fresh = await noted(trx, dialect, [...digests].sort(), mark)
  const left = groups.flatMap((group) => {
    const again = group.numbered.filter(({ event_digest }) => !fresh.delete(event_digest))
    if (again.length > 0) repeated.set(group.hash_signature, positionsOf(again))
    return unfold(group, again) ?? []
  })
  return { groups: left, repeated }
}

function positionsOf(events: readonly NumberedEvent[]): ReadonlySet<number> {
  return new Set(events.map(({ position }) => position))
}

/** In the order of the digests, which takes the locks without deadlocks; gives those that nobody had noted before. */
async function noted(
  trx: Transaction<Schema>,
  dialect: Dialect,
  digests: readonly string[],
  { application_id, batch_id, now }: { application_id: number; batch_id: string; now: number },
): Promise<Set<string>> {
  const rows = digests.map((event_digest) => [application_id, event_digest, batch_id, now])
  const returned = await dialect.insertMany(trx, REPORTED_EVENTS, rows)
  const inserted = returned ?? (await notedBy(trx, digests, application_id, batch_id))
  return new Set(inserted.map(({ event_digest }) => String(event_digest)))
}

const DIGESTS_PER_STATEMENT = 500

/** For a database that does not return what was inserted. */
async function notedBy(
  trx: Transaction<Schema>,
  digests: readonly string[],
  application_id: number,
  batch_id: string,
): Promise<{ event_digest: string }[]> {
  const rows: { event_digest: string }[] = []
  for (let from = 0; from < digests.length; from += DIGESTS_PER_STATEMENT) {
    const some = await trx
      .selectFrom('faultboard_reported_events')
      .select('event_digest')
      .where('application_id', '=', application_id)
      .where('event_digest', 'in', digests.slice(from, from + DIGESTS_PER_STATEMENT))
      .where('batch_id', '=', batch_id)
      .execute()
    rows.push(...some)
  }
  return rows
}
