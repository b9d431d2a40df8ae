import type { Context } from '../../context.js'
import { isSaidByOthers, reasonOf } from '../../jobs/reason.js'
import { MINUTE } from '../../model/time.js'
import { activeChannels } from '../channels/channels.js'
import { combineHeld } from '../delivery/combine-held.js'
import { handOver } from '../delivery/hand-over.js'
import { failUnclaimed } from '../delivery/unclaimed.js'

/** What another process left in the middle waits no longer than this after its lock has run out. */
const SWEEP_MS = 20_000
/** A storm of new errors commits many times a second: their messages are handed over together. */
const GATHER_MS = 100
/** So many jobs are handed over at once. */
const AT_ONCE = 200
/** A job of which nothing was heard for so long is lost with its engine; its key keeps a late one from being a second. */
const LOST_MS = 5 * MINUTE
/** What is due later than this is left to a later sweep: a receiver that is paced must not cost thousands of jobs. */
const AHEAD_MS = MINUTE

/** Hands messages that are due to the job engine: at once after they were written, and now and then what was left. */
export function startDispatching(context: Context): () => void {
  const { database, outbox, log, config } = context
  const isOn = activeChannels(config).length > 0
  let running = false
  let again = false
  let stopped = false
  let complained = false
  let woken: NodeJS.Timeout | undefined
  const run = async (dispatch: typeof dispatchDue) => {
    if (running || stopped) {
      again = true
      return
    }
    running = true
    try {
      do {
        again = false
        await dispatch(context)
      } while (again && !stopped)
      complained = false
    } catch (error) {
      // A database that is away or outdated has been complained about already; what is due stays where it is.
      if (isOn && !stopped && !complained && !isSaidByOthers(error)) {
        complained = true
        log.warn(`Messages could not be handed to the job engine, and are later: ${reasonOf(error)}`)
      }
    } finally {
      running = false
    }
  }
  const stopListening = database.onWritten(() => {
    if (!outbox.hasRecentWrites()) return
    woken ??= setTimeout(() => {
      woken = undefined
      void run(dispatchDue)
    }, GATHER_MS).unref()
  })
  const sweep = setInterval(() => void run(sweepDeliveries), SWEEP_MS).unref()
  if (isOn) setImmediate(() => void run(sweepDeliveries))
  return () => {
    stopped = true
    stopListening()
    clearTimeout(woken)
    clearInterval(sweep)
  }
}

/** The same, and first tells in one what was held until now, and gives up what nobody came for. */
export async function sweepDeliveries(context: Context): Promise<number> {
  await context.ready()
  await combineHeld(context)
  await failUnclaimed(context)
  return dispatchDue(context)
}

/**
 * For a process that is about to stop: hands over what it has just written, and lets the worker do it as long as the
 * grace allows. Without it a script that logs an error and ends would leave its message to nobody. Never rejects.
 */
export async function finishDispatching(context: Context): Promise<void> {
  const { config, outbox, jobs } = context
  if (!config.run_jobs || !outbox.hasRecentWrites()) return
  try {
    await dispatchDue(context)
    await jobs.drain()
  } catch {
    // What could not be handed over stays where it is, for the next process.
  }
}

/** Hands over what no job is under way for, of this process's application; gives how many that were. */
export async function dispatchDue(context: Context): Promise<number> {
  await context.ready()
  for (let handed = 0; ; ) {
    const rows = await waiting(context)
    const changed = await handOver(context, rows)
    handed += changed
    // What others changed meanwhile is theirs; asked for again at once, it might be found for ever.
    if (rows.length < AT_ONCE || changed === 0) return handed
  }
}

/** What was never handed over, what was and got lost, and what a process had begun to send before it was gone. */
async function waiting({ database, config, now }: Context) {
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
            or([eb('d.run_at', 'is', null), eb('d.run_at', '<', time + AHEAD_MS)]),
          ]),
          and([eb('d.run_at', '<', time - LOST_MS), eb('d.queued_at', '<', time - LOST_MS)]),
          and([
            eb('d.state', '=', 'sending'),
            eb('d.locked_until', '<', time),
            or([eb('d.queued_at', 'is', null), eb('d.queued_at', '<', eb.ref('d.locked_until'))]),
          ]),
        ]),
      )
      // Another application's processes have other settings, and tell other people.
      .where(({ eb, or }) => or([eb('a.name', 'is', null), eb('a.name', '=', config.application_name)]))
      .orderBy('d.id')
      .limit(AT_ONCE)
      .execute()
  )
}
