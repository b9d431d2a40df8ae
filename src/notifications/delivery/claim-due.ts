import type { Options } from '../../config/options.js'
import type { Context } from '../../context.js'
import { MAX_CLOCK_SKEW_MS } from '../../jobs/timing.js'
import {
  type Expression,
  type ExpressionBuilder,
  type Selectable,
  type SqlBool,
  sql,
  type Transaction,
} from '../../store/kysely.js'
import type { DeliveriesTable, Schema } from '../../store/schema.js'
import { withRowLocks } from '../../store/sql/row-locks.js'
import { activeChannels, assignmentChannels } from '../channels/channels.js'
import { findPauses, resumeTime } from './receiver-pause.js'

/** Exceeds the longest attempt, so that no second process starts the same delivery. */
export const LEASE_MS = 45_000
/** Results are written before the lease ends, even if the write is slow. */
const LEASE_MARGIN_MS = 5000
/** Exceeds the number of claims, because some candidates must wait. */
const MAX_CANDIDATES = 20
/** Time for the previous delivery about the same error to finish. */
const PREDECESSOR_DELAY_MS = 2000

type Delivery = Selectable<DeliveriesTable>

/** A delivery that only this process may send until its lease ends. `attempts` does not include the claimed attempt. */
export interface ClaimedDelivery extends Delivery {
  locked_until: number
  /** Monotonic time (`performance.now()`) shortly before the lease ends. */
  deadline: number
}

/**
 * Claims due deliveries of this application that this process can send. Postpones due deliveries to a
 * paused receiver, and those that follow an unfinished delivery about the same error.
 */
export async function claimDue(context: Context, limit: number): Promise<ClaimedDelivery[]> {
  const { database, config, now } = context
  await context.ready()
  const due = (db: typeof database.read) =>
    db
      .selectFrom('faultboard_deliveries')
      .where('state', '=', 'pending')
      .where('run_at', '<=', now())
      .where(isSendable(config))
      .where(belongsToApplication(config.application_name))
  for (;;) {
    // An idle check costs one read. A transaction is only started for due deliveries.
    if (!(await due(database.read).select('id').limit(1).executeTakeFirst())) return []
    const { claimed, postponedCount } = await database.write(async (trx) => {
      const candidates = due(trx).selectAll().orderBy('run_at').orderBy('id').limit(MAX_CANDIDATES)
      return claimCandidates(context, trx, await withRowLocks(candidates, database.dialect, 'skip').execute(), limit)
    })
    if (claimed.length > 0 || postponedCount === 0) return claimed
  }
}

async function claimCandidates(
  context: Context,
  trx: Transaction<Schema>,
  candidates: readonly Delivery[],
  limit: number,
): Promise<{ claimed: ClaimedDelivery[]; postponedCount: number }> {
  const postponedUntil = await findPostponements(context, trx, candidates)
  for (const [{ id }, run_at] of postponedUntil)
    await trx.updateTable('faultboard_deliveries').set({ run_at }).where('id', '=', id).execute()
  const deadline = performance.now() + LEASE_MS - LEASE_MARGIN_MS
  const locked_until = context.now() + LEASE_MS
  const claimed = candidates
    .filter((delivery) => !postponedUntil.has(delivery))
    .slice(0, limit)
    .map((delivery) => ({ ...delivery, locked_until, deadline }))
  if (claimed.length > 0) {
    await trx
      .updateTable('faultboard_deliveries')
      .set({ state: 'sending', attempts: sql`attempts + 1`, locked_until })
      .where(
        'id',
        'in',
        claimed.map(({ id }) => id),
      )
      .execute()
  }
  return { claimed, postponedCount: postponedUntil.size }
}

/** Deliveries that must wait, with the time of their next attempt. */
async function findPostponements(
  context: Context,
  trx: Transaction<Schema>,
  candidates: readonly Delivery[],
): Promise<Map<Delivery, number>> {
  const pausedUntil = await findPauses(trx, candidates, context.now())
  const unfinished = await findUnfinished(trx, candidates)
  const postponements = new Map<Delivery, number>()
  for (const delivery of candidates) {
    const pause = pausedUntil(delivery)
    const { id, error_id, channel } = delivery
    // Keeps deliveries of one channel about one error in order: a resolve must not overtake its trigger.
    const predecessor = unfinished.findLast(
      (other) => other.error_id === error_id && other.channel === channel && other.id < id,
    )
    if (pause !== null) postponements.set(delivery, resumeTime(context, pause))
    else if (predecessor)
      postponements.set(delivery, Math.max(predecessor.run_at ?? 0, context.now()) + PREDECESSOR_DELAY_MS)
  }
  return postponements
}

/** Unfinished deliveries about the errors of the candidates, oldest first. */
async function findUnfinished(trx: Transaction<Schema>, candidates: readonly Delivery[]) {
  const errorIds = candidates.flatMap(({ error_id }) => error_id ?? [])
  if (errorIds.length === 0) return []
  return (
    trx
      .selectFrom('faultboard_deliveries')
      .select(['id', 'error_id', 'channel', 'run_at'])
      .where('error_id', 'in', errorIds)
      .where('state', 'in', ['pending', 'sending'])
      // Waits for further assignments, and must not delay messages about its error.
      .where('event', '!=', 'assigned')
      .orderBy('id')
      .execute()
  )
}

/** Requeues claimed deliveries without counting the attempt. */
export async function releaseClaims({ database }: Context, claimed: readonly ClaimedDelivery[]): Promise<void> {
  await database.write(async (trx) => {
    for (const delivery of claimed) {
      await trx
        .updateTable('faultboard_deliveries')
        .set({ state: 'pending', attempts: delivery.attempts, locked_until: null })
        .where(isClaimedAs(delivery))
        .execute()
    }
  })
}

/** Requeues deliveries whose process ended while sending. The interrupted attempt counts. */
export async function releaseExpiredClaims({ database, ready, now }: Context): Promise<void> {
  await ready()
  const time = now()
  const isExpired = ({ eb, or }: DeliveriesBuilder) =>
    or([
      eb('locked_until', '<', time),
      // Claimed before the clock was set back.
      eb('locked_until', '>', time + LEASE_MS + MAX_CLOCK_SKEW_MS),
    ])
  const expired = await database.read
    .selectFrom('faultboard_deliveries')
    .select('id')
    .where('state', '=', 'sending')
    .where(isExpired)
    .limit(1)
    .executeTakeFirst()
  if (!expired) return
  await database.write((trx) =>
    trx
      .updateTable('faultboard_deliveries')
      .set({ state: 'pending', locked_until: null })
      .where('state', '=', 'sending')
      .where(isExpired)
      .execute(),
  )
}

/** Corrects deliveries written before the clock was set back. Otherwise they wait until the clock catches up. */
export async function correctFutureTimes({ database, now }: Context): Promise<void> {
  const time = now()
  await database.read
    .updateTable('faultboard_deliveries')
    // MySQL assigns from left to right.
    .set({ run_at: sql`run_at - (created_at - ${time})`, created_at: time })
    .where('state', '=', 'pending')
    .where('created_at', '>', time + MAX_CLOCK_SKEW_MS)
    .execute()
}

export type DeliveriesBuilder = ExpressionBuilder<Schema, 'faultboard_deliveries'>

/** Matches only while this process holds the claim. A claim by another process increments `attempts`. */
export function isClaimedAs({ id, attempts, locked_until }: ClaimedDelivery) {
  return ({ and }: DeliveriesBuilder): Expression<SqlBool> =>
    and({ id, state: 'sending', attempts: attempts + 1, locked_until })
}

/** Deliveries whose channel is configured in this process. Assignment emails have their own recipient. */
export function isSendable(config: Options) {
  const channels = activeChannels(config).map(({ name }) => name)
  const forAssignments = assignmentChannels(config)
  return ({ and, eb, or }: DeliveriesBuilder): Expression<SqlBool> =>
    or([
      ...(channels.length > 0 ? [eb('channel', 'in', channels)] : []),
      ...(forAssignments.length > 0 ? [and([eb('channel', 'in', forAssignments), eb('event', '=', 'assigned')])] : []),
    ])
}

/** Applications that share a database have different channels and recipients. */
export function belongsToApplication(application_name: string) {
  return ({ not, exists, selectFrom }: DeliveriesBuilder): Expression<SqlBool> =>
    not(
      exists(
        selectFrom('faultboard_applications as a')
          .select('a.id')
          .whereRef('a.id', '=', 'faultboard_deliveries.application_id')
          .where('a.name', '!=', application_name),
      ),
    )
}
