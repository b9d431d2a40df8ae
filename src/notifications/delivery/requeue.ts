import type { Context } from '../../context.js'
import { MINUTE } from '../../model/time.js'
import type { ChannelName } from '../channels/channel.js'
import { startCooldowns } from '../rules/cooldowns.js'
import { type DeliverySnapshot, enqueueAgain, enqueueDeliveries, matchesSnapshot } from './enqueue.js'

/** How long a job is requeued until a suitable process picks it up. */
const MAX_REQUEUE_MS = MINUTE
const REQUEUE_DELAY_MS = 2000
const RECHECK_INTERVAL_MS = MINUTE
/** Exceeds the duration of a rolling deployment. */
const MAX_WAIT_MS = 15 * MINUTE

export interface RequeuedDelivery extends DeliverySnapshot {
  channel: string
  application_name: string | null
}

/** Applications can share a database and a job engine but have different channels and recipients. */
export function belongsToAnotherApplication({ application_name }: RequeuedDelivery, { config }: Context): boolean {
  return application_name !== null && application_name !== config.application_name
}

/** Returns the delivery to the processes of its own application, which have the right configuration. */
export async function requeueForOwner(context: Context, row: RequeuedDelivery): Promise<void> {
  if (isStillCirculating(context, row)) return enqueueAgain(context, row, context.now() + REQUEUE_DELAY_MS)
  await releaseDelivery(context, row, { queued_at: null })
}

/**
 * Requeues the delivery for a process with its channel configured: during a rollout, old and new processes differ.
 * Returns false when none claimed it in time.
 */
export async function requeueForCapableWorker(context: Context, row: RequeuedDelivery): Promise<boolean> {
  const { database, now } = context
  if (isStillCirculating(context, row)) {
    await enqueueAgain(context, row, now() + REQUEUE_DELAY_MS)
    return true
  }
  const waitName = `awaits_channel:${row.id}`
  const currentWait = await database.read
    .selectFrom('faultboard_cooldowns')
    .select('until')
    .where('name', '=', waitName)
    .executeTakeFirst()
  if (currentWait && currentWait.until <= now()) {
    await database.read.deleteFrom('faultboard_cooldowns').where('name', '=', waitName).execute()
    return false
  }
  if (!currentWait) await startCooldowns(database.read, database.dialect, [waitName], now() + MAX_WAIT_MS)
  const run_at = now() + RECHECK_INTERVAL_MS
  const last_response = `Waiting for a process with the ${row.channel as ChannelName} channel configured.`
  await releaseDelivery(context, row, { queued_at: null, run_at, last_response })
  await enqueueDeliveries(context, [{ ...row, run_at, queued_at: null }])
  return true
}

/** False for a delivery that was never enqueued, or whose job is overdue. */
function isStillCirculating({ now }: Context, { queued_at }: RequeuedDelivery): boolean {
  return queued_at !== null && now() - queued_at < MAX_REQUEUE_MS
}

async function releaseDelivery(
  { database }: Context,
  row: RequeuedDelivery,
  change: { queued_at: null; run_at?: number; last_response?: string },
): Promise<void> {
  await database.read
    .updateTable('faultboard_deliveries')
    .set({ ...change, ...(change.run_at === undefined ? {} : { state: 'pending' as const, locked_until: null }) })
    .where(matchesSnapshot(row))
    .where('state', 'in', ['pending', 'sending'])
    .execute()
}
