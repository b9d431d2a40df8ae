import type { Context } from '../context.js'
import { DAY, MINUTE } from '../model/time.js'
import type { Selectable } from '../store/kysely.js'
import type { DeliveriesTable } from '../store/schema.js'
import type { Channel, ChannelName } from './channel.js'
import { CHANNELS } from './channels.js'
import { beginCooldowns, runningCooldowns } from './cooldowns.js'
import { dispatchDue } from './dispatch.js'
import { type Ending, endingOf, switchedOff } from './endings.js'
import { send } from './send.js'

/** Longer than a try may take, so that no second process begins while the first is at it. */
const LOCK_MS = 45_000
/** So long a message is left for a process of its own application. */
const OWN_FIRST_MS = 30_000
const ASIDE_MS = 2000

type Row = Selectable<DeliveriesTable> & { application_name: string | null }

/**
 * Sends one message, once, and writes down what became of it. It may be called for a message any number of times, by
 * any number of processes: the row says whether there is something to do.
 */
export async function deliver(context: Context, delivery_id: number, signal: AbortSignal): Promise<void> {
  await context.ready()
  const row = await find(context, delivery_id)
  if (!row || !isDue(row, context.now())) return
  if (isOthers(row, context)) return passOn(context, row)
  const channel = CHANNELS[row.channel as ChannelName]
  const isOn = channel.missing(context.config)?.length === 0
  if (!isOn && mayStillBeSent(row, context)) return putOff(context, row, context.now() + MINUTE)
  const later = (await pausedUntil(context, row)) ?? (await waitsFor(context, row))
  if (later !== null) return putOff(context, row, later)
  const locked_until = await claim(context, row)
  if (locked_until === null) return
  const ending = isOn ? await tryOnce(context, row, channel, signal) : switchedOff(row, channel, context)
  await settle(context, { row, locked_until, ending })
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

/** Two applications may share a database and the engine, and tell different people. */
function isOthers({ application_name, queued_at }: Row, { config, now }: Context): boolean {
  if (application_name === null || application_name === config.application_name) return false
  return queued_at !== null && queued_at > now() - OWN_FIRST_MS
}

/** What this process has no channel for may be sent by one of its application, should that be back within a day. */
function mayStillBeSent({ application_name, created_at }: Row, { config, now }: Context): boolean {
  return application_name !== null && application_name !== config.application_name && now() - created_at < DAY
}

async function passOn({ jobs, now }: Context, { id, attempts }: Row): Promise<void> {
  const run_at = now() + ASIDE_MS
  await jobs.add([{ name: 'deliver', data: { delivery_id: id }, key: `delivery:${id}:${attempts}:${run_at}`, run_at }])
}

/** A receiver that was told too much is left alone, whichever process meets it next. */
async function pausedUntil({ database, now }: Context, row: Row): Promise<number | null> {
  const name = pauseOf(row)
  return (await runningCooldowns(database.read, [name], now())).get(name) ?? null
}

function pauseOf({ channel, application_id }: Row): string {
  return `channel:${application_id ?? 0}:${channel}`
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

async function putOff(context: Context, { id, attempts }: Row, run_at: number): Promise<void> {
  await context.database.read
    .updateTable('faultboard_deliveries')
    .set({ state: 'pending', run_at, queued_at: null, locked_until: null })
    .where('id', '=', id)
    .where('attempts', '=', attempts)
    .where('state', 'in', ['pending', 'sending'])
    .execute()
  await dispatchDue(context)
}

/** Of many processes that have found it due, the one whose update finds it so has it; until when, or null. */
async function claim({ database, now }: Context, { id, attempts }: Row): Promise<number | null> {
  const locked_until = now() + LOCK_MS
  const taken = await database.read
    .updateTable('faultboard_deliveries')
    .set({ state: 'sending', attempts: attempts + 1, locked_until })
    .where('id', '=', id)
    .where('attempts', '=', attempts)
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

interface Settled {
  row: Row
  locked_until: number
  ending: Ending
}

async function settle(context: Context, { row, locked_until, ending }: Settled): Promise<void> {
  const { database, now } = context
  const { state, attempts, answer, run_at, paused_until } = ending
  if (paused_until !== undefined) {
    await beginCooldowns(database.read, database.dialect, [pauseOf(row)], paused_until)
  }
  await database.read
    .updateTable('faultboard_deliveries')
    .set({
      ...{ state, attempts, last_answer: answer, locked_until: null },
      ...(state === 'pending' ? { run_at, queued_at: null } : { finished_at: now() }),
    })
    .where('id', '=', row.id)
    .where('locked_until', '=', locked_until)
    .execute()
  if (state === 'pending') await dispatchDue(context)
}
