import type { Context } from '../../context.js'
import { isReportedByRecorder, reasonOf } from '../../jobs/reason.js'
import { MINUTE } from '../../model/time.js'
import { activeChannels } from '../channels/channels.js'
import { combineHeld } from './combine-held.js'
import { enqueueDeliveries } from './enqueue.js'
import { failUnclaimedDeliveries } from './expire-deliveries.js'

/** Upper bound on how long an abandoned delivery waits after its lock expires. */
const SWEEP_INTERVAL_MS = 20_000
/** A burst of errors commits many times per second; their deliveries are enqueued together. */
const DEBOUNCE_MS = 100
/** Maximum number of jobs per insert. */
const MAX_JOBS_PER_INSERT = 200
/** A job without progress for this long is considered lost. Its key prevents a duplicate if it still runs. */
const LOST_JOB_MS = 5 * MINUTE
/**
 * Deliveries due later than this are left to a later sweep, so that a paused receiver does not create thousands of
 * jobs.
 */
const LOOKAHEAD_MS = MINUTE

/** Enqueues due deliveries: right after they are written, and in a periodic sweep. Returns a function that stops it. */
export function startDispatcher(context: Context): () => void {
  const { database, outbox, log, config } = context
  const hasChannels = activeChannels(config).length > 0
  let isRunning = false
  let shouldRerun = false
  let isStopped = false
  let hasWarned = false
  let wakeTimer: NodeJS.Timeout | undefined
  const run = async (dispatch: typeof dispatchDue) => {
    if (isRunning || isStopped) {
      shouldRerun = true
      return
    }
    isRunning = true
    try {
      do {
        shouldRerun = false
        await dispatch(context)
      } while (shouldRerun && !isStopped)
      hasWarned = false
    } catch (error) {
      // Unavailable and outdated databases are logged elsewhere. Due deliveries stay in the database.
      if (hasChannels && !isStopped && !hasWarned && !isReportedByRecorder(error)) {
        hasWarned = true
        log.warn(`Could not enqueue notifications; will retry: ${reasonOf(error)}`)
      }
    } finally {
      isRunning = false
    }
  }
  const stopListening = database.onWritten(() => {
    if (!outbox.hasRecentWrites()) return
    wakeTimer ??= setTimeout(() => {
      wakeTimer = undefined
      void run(dispatchDue)
    }, DEBOUNCE_MS).unref()
  })
  const sweep = setInterval(() => void run(sweepDeliveries), SWEEP_INTERVAL_MS).unref()
  if (hasChannels) setImmediate(() => void run(sweepDeliveries))
  return () => {
    isStopped = true
    stopListening()
    clearTimeout(wakeTimer)
    clearInterval(sweep)
  }
}

/** Combines held deliveries, fails unclaimed deliveries and enqueues due deliveries. */
export async function sweepDeliveries(context: Context): Promise<number> {
  await context.ready()
  await combineHeld(context)
  await failUnclaimedDeliveries(context)
  return dispatchDue(context)
}

/**
 * Enqueues and sends recent deliveries before the process exits, within the shutdown timeout. Without this, a script
 * that logs an error and exits would send nothing. Never rejects.
 */
export async function flushDispatcher(context: Context): Promise<void> {
  const { config, outbox, jobs } = context
  if (!config.run_jobs || !outbox.hasRecentWrites()) return
  try {
    await dispatchDue(context)
    await jobs.drain()
  } catch {
    // Deliveries that could not be enqueued stay in the database for the next process.
  }
}

/** Enqueues due deliveries of this application that have no job. Returns their number. */
export async function dispatchDue(context: Context): Promise<number> {
  await context.ready()
  for (let enqueued = 0; ; ) {
    const rows = await findDueDeliveries(context)
    const changed = await enqueueDeliveries(context, rows)
    enqueued += changed
    // Stops when a concurrent process changed all rows; otherwise the loop might find the same rows endlessly.
    if (rows.length < MAX_JOBS_PER_INSERT || changed === 0) return enqueued
  }
}

/** Finds deliveries that were never enqueued, whose job was lost, or whose process died while sending. */
async function findDueDeliveries({ database, config, now }: Context) {
  const time = now()
  return (
    database.read
      .selectFrom('faultboard_deliveries as d')
      .leftJoin('faultboard_applications as a', 'a.id', 'd.application_id')
      .select(['d.id', 'd.attempts', 'd.run_at', 'd.queued_at'])
      .where('d.state', 'in', ['pending', 'sending'])
      .where(({ eb, and, or }) =>
        or([
          and([
            eb('d.state', '=', 'pending'),
            eb('d.queued_at', 'is', null),
            or([eb('d.run_at', 'is', null), eb('d.run_at', '<', time + LOOKAHEAD_MS)]),
          ]),
          and([eb('d.run_at', '<', time - LOST_JOB_MS), eb('d.queued_at', '<', time - LOST_JOB_MS)]),
          and([
            eb('d.state', '=', 'sending'),
            eb('d.locked_until', '<', time),
            or([eb('d.queued_at', 'is', null), eb('d.queued_at', '<', eb.ref('d.locked_until'))]),
          ]),
        ]),
      )
      // Other applications have other channels and recipients.
      .where(({ eb, or }) => or([eb('a.name', 'is', null), eb('a.name', '=', config.application_name)]))
      .orderBy('d.id')
      .limit(MAX_JOBS_PER_INSERT)
      .execute()
  )
}
