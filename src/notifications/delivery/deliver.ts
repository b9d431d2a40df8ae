import type { Context } from '../../context.js'
import type { Selectable } from '../../store/kysely.js'
import type { DeliveriesTable } from '../../store/schema.js'
import type { Channel, ChannelName } from '../channels/channel.js'
import { CHANNELS } from '../channels/channels.js'
import { asFound } from './as-found.js'
import { type Ending, endingOf, switchedOff } from './endings.js'
import { type DeliverData, handOver, handOverAgain } from './hand-over.js'
import { isOthers, leaveToAbler, leaveToOthers } from './leave-to-others.js'
import { send } from './send.js'
import { settle } from './settle.js'
import { afterPause, pausedUntil } from './slow-down.js'

/** Longer than a try may take, so that no second process begins while the first is at it. */
const LOCK_MS = 45_000
/** So long before the lock is over nothing is begun any more. */
const LOCK_RESERVE_MS = 5000
/** The clocks of two machines, and that of the engine, are never quite the same. */
const SKEW_MS = 5000
const ASIDE_MS = 2000

type Row = Selectable<DeliveriesTable> & { application_name: string | null }

/**
 * Sends one message, once, and writes down what became of it. It may be called for a message any number of times, by
 * any number of processes: the row says whether there is something to do. `job` is what its job knew of it.
 */
export async function deliver(
  context: Context,
  delivery_id: number,
  signal: AbortSignal,
  job?: Partial<DeliverData>,
): Promise<void> {
  await context.ready()
  const row = await find(context, delivery_id)
  if (!row) return
  if (!isDue(row, context.now())) {
    if (!isOwnJob(row, job)) return
    const early = (row.run_at ?? 0) - context.now()
    if (early > SKEW_MS) return handOverAgain(context, row, (row.run_at ?? 0) + early)
  }
  if (isOthers(row, context)) return leaveToOthers(context, row)
  const channel = CHANNELS[row.channel as ChannelName]
  const isOn = channel.missing(context.config)?.length === 0
  if (!isOn && (await leaveToAbler(context, row))) return
  const later = isOn ? ((await pauseOf(context, row)) ?? (await waitsFor(context, row))) : null
  if (later !== null) return putOff(context, row, later)
  const deadline = performance.now() + LOCK_MS - LOCK_RESERVE_MS
  const locked_until = await claim(context, row)
  if (locked_until === null) return
  const ending = isOn
    ? await tryOnce(context, row, channel, signal)
    : switchedOff({ attempts: row.attempts, channel: channel.name }, context.config)
  await settle(context, { row, locked_until, deadline, ending, signal })
}

async function find({ database }: Context, id: number): Promise<Row | undefined> {
  return database.read
    .selectFrom('faultboard_deliveries as d')
    .leftJoin('faultboard_applications as a', 'a.id', 'd.application_id')
    .selectAll('d')
    .select('a.name as application_name')
    .where('d.id', '=', id)
    .executeTakeFirst()
}

/** What is sent by another process at the moment is left to it, and so is what was put off after this job was made. */
function isDue({ state, run_at, locked_until }: Row, now: number): boolean {
  if (state === 'sending') return (locked_until ?? 0) < now
  return state === 'pending' && (run_at ?? 0) <= now
}

/** Whether the engine has found its time come, by another clock: nobody else would come for it. */
function isOwnJob({ state, attempts, run_at }: Row, job?: Partial<DeliverData>): boolean {
  return state === 'pending' && job?.attempts === attempts && job.run_at === run_at
}

async function pauseOf(context: Context, row: Row): Promise<number | null> {
  const until = await pausedUntil(context, row)
  return until === null ? null : afterPause(context, until)
}

/** Messages of one channel about one error keep their order: what ends an incident must not overtake what began it. */
async function waitsFor({ database, now }: Context, { id, error_id, channel }: Row): Promise<number | null> {
  if (error_id === null) return null
  const older = await database.read
    .selectFrom('faultboard_deliveries')
    .select(['run_at', 'locked_until'])
    .where('error_id', '=', error_id)
    .where('channel', '=', channel)
    .where('id', '<', id)
    .where('state', 'in', ['pending', 'sending'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return older ? Math.max(older.run_at ?? 0, now()) + ASIDE_MS : null
}

async function putOff(context: Context, row: Row, run_at: number): Promise<void> {
  await context.database.read
    .updateTable('faultboard_deliveries')
    .set({ state: 'pending', run_at, queued_at: null, locked_until: null })
    .where(asFound(row))
    .where('state', 'in', ['pending', 'sending'])
    .execute()
  await handOver(context, [{ id: row.id, attempts: row.attempts, run_at, queued_at: null }])
}

/** The process whose update finds it due still has it: until when, or null. */
async function claim({ database, now }: Context, row: Row): Promise<number | null> {
  const locked_until = now() + LOCK_MS
  const taken = await database.read
    .updateTable('faultboard_deliveries')
    .set({ state: 'sending', attempts: row.attempts + 1, locked_until })
    .where(asFound(row))
    .where(({ eb, and, or }) =>
      or([eb('state', '=', 'pending'), and([eb('state', '=', 'sending'), eb('locked_until', '<', now())])]),
    )
    .executeTakeFirst()
  return taken.numUpdatedRows > 0n ? locked_until : null
}

async function tryOnce(context: Context, row: Row, channel: Channel, signal: AbortSignal): Promise<Ending> {
  const notice = JSON.parse(row.payload)
  const outcome = await send(context, channel, { key: row.idempotency_key, notice }, signal)
  return endingOf({ attempts: row.attempts, created_at: row.created_at, stopped: signal.aborted }, outcome, context)
}
