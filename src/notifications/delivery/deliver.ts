import type { Context } from '../../context.js'
import type { Selectable } from '../../store/kysely.js'
import type { DeliveriesTable } from '../../store/schema.js'
import type { Channel, ChannelName } from '../channels/channel.js'
import { CHANNELS } from '../channels/channels.js'
import { type AttemptResult, attemptResult, unconfiguredResult } from './attempt-result.js'
import {
  type DeliveryJobData,
  type DeliverySnapshot,
  enqueueAgain,
  enqueueDeliveries,
  matchesSnapshot,
} from './enqueue.js'
import { pausedUntil, type Receiver, resumeTime, spreadBacklog, startPause } from './receiver-pause.js'
import { belongsToAnotherApplication, requeueForCapableWorker, requeueForOwner } from './requeue.js'
import { sendOnce } from './send-once.js'

/** Exceeds the longest attempt, so that no second process starts the same delivery. */
const LOCK_MS = 45_000
/** Stops work shortly before the lock expires. */
const LOCK_MARGIN_MS = 5000
/** Tolerated clock difference between machines, and between the database and the job engine. */
const MAX_CLOCK_SKEW_MS = 5000
const REQUEUE_DELAY_MS = 2000

type Row = Selectable<DeliveriesTable> & { application_name: string | null }

/**
 * Sends one delivery and records the result. Idempotent: any number of processes may call it for the same row, and the
 * row decides whether there is work to do. `job` contains the data of the job that triggered the call.
 */
export async function deliver(
  context: Context,
  delivery_id: number,
  signal: AbortSignal,
  job?: Partial<DeliveryJobData>,
): Promise<void> {
  await context.ready()
  const row = await findDelivery(context, delivery_id)
  if (!row) return
  if (!isDue(row, context.now())) {
    if (!isCurrentJob(row, job)) return
    const remainingMs = (row.run_at ?? 0) - context.now()
    if (remainingMs > MAX_CLOCK_SKEW_MS) return enqueueAgain(context, row, (row.run_at ?? 0) + remainingMs)
  }
  if (belongsToAnotherApplication(row, context)) return requeueForOwner(context, row)
  const channel = CHANNELS[row.channel as ChannelName]
  const isConfigured = channel.missingOptions(context.config)?.length === 0
  if (!isConfigured && (await requeueForCapableWorker(context, row))) return
  const postponedUntil = isConfigured
    ? ((await endOfPause(context, row)) ?? (await timeAfterPredecessor(context, row)))
    : null
  if (postponedUntil !== null) return postpone(context, row, postponedUntil)
  const deadline = performance.now() + LOCK_MS - LOCK_MARGIN_MS
  const locked_until = await claimDelivery(context, row)
  if (locked_until === null) return
  const result = isConfigured
    ? await makeAttempt(context, row, channel, signal)
    : unconfiguredResult({ attempts: row.attempts, channel: channel.name }, context.config)
  await recordResult(context, { row, locked_until, deadline, result, signal })
}

async function findDelivery({ database }: Context, id: number): Promise<Row | undefined> {
  return database.read
    .selectFrom('faultboard_deliveries as d')
    .leftJoin('faultboard_applications as a', 'a.id', 'd.application_id')
    .selectAll('d')
    .select('a.name as application_name')
    .where('d.id', '=', id)
    .executeTakeFirst()
}

/**
 * False while another process is sending the delivery, or when the delivery was postponed after this job was created.
 */
function isDue({ state, run_at, locked_until, created_at }: Row, now: number): boolean {
  if (state === 'sending') return (locked_until ?? 0) < now
  // Created before the clock was set back: `run_at` would delay the delivery by the difference.
  const isFromLaterClock = created_at > now + MAX_CLOCK_SKEW_MS
  return state === 'pending' && (isFromLaterClock || (run_at ?? 0) <= now)
}

/** Whether the job engine, which uses another clock, considers this job due. No other job exists for the attempt. */
function isCurrentJob({ state, attempts, run_at }: Row, job?: Partial<DeliveryJobData>): boolean {
  return state === 'pending' && job?.attempts === attempts && job.run_at === run_at
}

async function endOfPause(context: Context, row: Row): Promise<number | null> {
  const until = await pausedUntil(context, row)
  return until === null ? null : resumeTime(context, until)
}

/** Keeps deliveries of one channel about one error in order: a resolve must not overtake its trigger. */
async function timeAfterPredecessor(
  { database, now }: Context,
  { id, error_id, channel }: Row,
): Promise<number | null> {
  if (error_id === null) return null
  const predecessor = await database.read
    .selectFrom('faultboard_deliveries')
    .select(['run_at', 'locked_until'])
    .where('error_id', '=', error_id)
    .where('channel', '=', channel)
    .where('id', '<', id)
    .where('state', 'in', ['pending', 'sending'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return predecessor ? Math.max(predecessor.run_at ?? 0, now()) + REQUEUE_DELAY_MS : null
}

async function postpone(context: Context, row: Row, run_at: number): Promise<void> {
  await context.database.read
    .updateTable('faultboard_deliveries')
    .set({ state: 'pending', run_at, queued_at: null, locked_until: null })
    .where(matchesSnapshot(row))
    .where('state', 'in', ['pending', 'sending'])
    .execute()
  await enqueueDeliveries(context, [{ id: row.id, attempts: row.attempts, run_at, queued_at: null }])
}

/** Claims the delivery with a conditional update. Returns the end of the lock, or null when another process has it. */
async function claimDelivery({ database, now }: Context, row: Row): Promise<number | null> {
  const locked_until = now() + LOCK_MS
  const updated = await database.read
    .updateTable('faultboard_deliveries')
    .set({ state: 'sending', attempts: row.attempts + 1, locked_until })
    .where(matchesSnapshot(row))
    .where(({ eb, and, or }) =>
      or([eb('state', '=', 'pending'), and([eb('state', '=', 'sending'), eb('locked_until', '<', now())])]),
    )
    .executeTakeFirst()
  return updated.numUpdatedRows > 0n ? locked_until : null
}

async function makeAttempt(context: Context, row: Row, channel: Channel, signal: AbortSignal): Promise<AttemptResult> {
  const notice = JSON.parse(row.payload)
  const outcome = await sendOnce(context, channel, { key: row.idempotency_key, notice }, signal)
  return attemptResult(
    { attempts: row.attempts, created_at: row.created_at, isStopped: signal.aborted },
    outcome,
    context,
  )
}

/** Delay between retries of a failed write. A lost result would cause a second notification. */
const WRITE_RETRY_DELAY_MS = 250

interface FinishedAttempt {
  row: DeliverySnapshot & Receiver
  /** Proves that this process still owns the delivery. */
  locked_until: number
  /** Monotonic time (`performance.now()`) shortly before the lock expires. */
  deadline: number
  result: AttemptResult
  signal: AbortSignal
}

/** Records the result of an attempt and schedules the next one. */
async function recordResult(context: Context, finished: FinishedAttempt): Promise<void> {
  const { row, result } = finished
  const { state, attempts, paused_until } = result
  const isFirstRateLimit =
    paused_until !== undefined && (await retryUntilWritten(finished, () => startPause(context, row, paused_until)))
  const run_at = paused_until === undefined || isFirstRateLimit ? result.run_at : resumeTime(context, paused_until)
  await retryUntilWritten(finished, () => writeResult(context, finished, run_at))
  if (state !== 'pending') return
  await enqueueDeliveries(context, [{ id: row.id, attempts, run_at: run_at ?? 0, queued_at: null }])
  if (isFirstRateLimit && paused_until !== undefined) await spreadBacklog(context, row, paused_until)
}

async function writeResult(
  { database, now }: Context,
  { row, locked_until, result }: FinishedAttempt,
  run_at: number | undefined,
): Promise<void> {
  const { state, attempts, response } = result
  await database.write((trx) =>
    trx
      .updateTable('faultboard_deliveries')
      .set({
        ...{ state, attempts, last_response: response, locked_until: null },
        ...(state === 'pending' ? { run_at, queued_at: null } : { finished_at: now() }),
      })
      .where('id', '=', row.id)
      .where('locked_until', '=', locked_until)
      .execute(),
  )
}

async function retryUntilWritten<T>({ deadline, signal }: FinishedAttempt, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted || performance.now() > deadline) throw error
    }
    await new Promise<void>((resume) => setTimeout(resume, WRITE_RETRY_DELAY_MS).unref())
  }
}
