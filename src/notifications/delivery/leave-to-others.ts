import type { Context } from '../../context.js'
import { MINUTE } from '../../model/time.js'
import type { ChannelName } from '../channels/channel.js'
import { beginCooldowns } from '../rules/cooldowns.js'
import { asFound, type Found } from './as-found.js'
import { handOver, handOverAgain } from './hand-over.js'

/** So long the job of a message goes round until a process takes it that may send it. */
const GOES_ROUND_MS = MINUTE
const ASIDE_MS = 2000
const LOOKED_FOR_AGAIN_MS = MINUTE
/** Longer than the processes of an application take to be replaced one by one. */
const PATIENCE_MS = 15 * MINUTE

export interface Left extends Found {
  channel: string
  application_name: string | null
}

/** Two applications may share a database and the engine, and tell different people. */
export function isOthers({ application_name }: Left, { config }: Context): boolean {
  return application_name !== null && application_name !== config.application_name
}

/** Leaves a message to the processes of its own application, whose settings are the right ones. */
export async function leaveToOthers(context: Context, row: Left): Promise<void> {
  if (goesRound(context, row)) return handOverAgain(context, row, context.now() + ASIDE_MS)
  await release(context, row, { queued_at: null })
}

/**
 * Leaves a message to a process that has its channel: while a release is rolled out, old and new ones differ. Gives
 * false once none has come for it.
 */
export async function leaveToAbler(context: Context, row: Left): Promise<boolean> {
  const { database, now } = context
  if (goesRound(context, row)) {
    await handOverAgain(context, row, now() + ASIDE_MS)
    return true
  }
  const name = `awaits_channel:${row.id}`
  const known = await database.read
    .selectFrom('faultboard_cooldowns')
    .select('until')
    .where('name', '=', name)
    .executeTakeFirst()
  if (known && known.until <= now()) {
    await database.read.deleteFrom('faultboard_cooldowns').where('name', '=', name).execute()
    return false
  }
  if (!known) await beginCooldowns(database.read, database.dialect, [name], now() + PATIENCE_MS)
  const run_at = now() + LOOKED_FOR_AGAIN_MS
  const last_answer = `Waits for a process that sends by ${row.channel as ChannelName}: this one has it not set.`
  await release(context, row, { queued_at: null, run_at, last_answer })
  await handOver(context, [{ ...row, run_at, queued_at: null }])
  return true
}

/** One that was never handed over, or whose job comes late, is not sent round. */
function goesRound({ now }: Context, { queued_at }: Left): boolean {
  return queued_at !== null && now() - queued_at < GOES_ROUND_MS
}

async function release(
  { database }: Context,
  row: Left,
  change: { queued_at: null; run_at?: number; last_answer?: string },
): Promise<void> {
  await database.read
    .updateTable('faultboard_deliveries')
    .set({ ...change, ...(change.run_at === undefined ? {} : { state: 'pending' as const, locked_until: null }) })
    .where(asFound(row))
    .where('state', 'in', ['pending', 'sending'])
    .execute()
}
