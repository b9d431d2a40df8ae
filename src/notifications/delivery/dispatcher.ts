import type { Context } from '../../context.js'
import { failureReason, isReportedByRecorder } from '../../jobs/reason.js'
import { TIMING } from '../../jobs/timing.js'
import { Worker } from '../../jobs/worker.js'
import { activeChannels, assignmentChannels } from '../channels/channels.js'
import {
  type ClaimedDelivery,
  claimDue,
  correctFutureTimes,
  LEASE_MS,
  releaseClaims,
  releaseExpiredClaims,
} from './claim-due.js'
import { combineHeld } from './combine-held.js'
import { deliver } from './deliver.js'
import { failUnclaimedDeliveries, failUnconfiguredDeliveries } from './expire-deliveries.js'

const SWEEP_INTERVAL_MS = 20_000
/** Maximum delay for deliveries written by another process. Each poll reads the host's database. */
const POLL_MS = 2000

/** Sends notifications in this process. */
export interface Dispatcher {
  /** Sends recent notifications, waits for attempts within the grace period and requeues the rest. Never rejects. */
  stop(): Promise<void>
}

/** Sends due deliveries: right after this process writes them, and in a periodic poll. */
export function startDispatcher(context: Context): Dispatcher {
  const { config, database, outbox, log } = context
  const canSend = activeChannels(config).length > 0 || assignmentChannels(config).length > 0
  const worker = new Worker<ClaimedDelivery>({
    source: {
      title: database.dialect.address,
      // The recorder usually reports the same outage first, on its next write.
      failuresBeforeWarning: 5,
      claim: (limit) => claimDue(context, limit),
      release: (claimed) => releaseClaims(context, claimed),
      releaseExpired: () => releaseExpiredClaims(context),
    },
    items: 'notifications',
    timing: { ...TIMING, leaseMs: LEASE_MS, pollMs: POLL_MS },
    log,
  })
  if (canSend) worker.start((delivery, { signal }) => deliver(context, delivery, signal))
  const stopListening = database.onWritten(() => {
    if (outbox.hasRecentWrites()) worker.wake()
  })
  const stopSweeping = startSweeping(context, { isUrgent: canSend, onSwept: () => worker.wake() })
  return {
    async stop() {
      stopListening()
      stopSweeping()
      // Without this, a script that logs an error and exits would send nothing.
      if (outbox.hasRecentWrites()) await worker.drain()
      await worker.stop()
    },
  }
}

function startSweeping(context: Context, { isUrgent, onSwept }: { isUrgent: boolean; onSwept(): void }): () => void {
  let isRunning = false
  let isStopped = false
  let hasWarned = false
  const sweep = async () => {
    if (isRunning || isStopped) return
    isRunning = true
    try {
      await sweepDeliveries(context)
      hasWarned = false
      onSwept()
    } catch (error) {
      // Unavailable and outdated databases are logged elsewhere. The next sweep continues.
      if (isStopped || hasWarned || isReportedByRecorder(error)) return
      hasWarned = true
      context.log.warn(`Could not update waiting notifications; will retry: ${failureReason(error)}`)
    } finally {
      isRunning = false
    }
  }
  const timer = setInterval(() => void sweep(), SWEEP_INTERVAL_MS).unref()
  if (isUrgent) setImmediate(() => void sweep())
  return () => {
    isStopped = true
    clearInterval(timer)
  }
}

/** Combines held deliveries, corrects times after a clock change, and fails deliveries that no process can send. */
export async function sweepDeliveries(context: Context): Promise<void> {
  await context.ready()
  await correctFutureTimes(context)
  await combineHeld(context)
  await failUnclaimedDeliveries(context)
  await failUnconfiguredDeliveries(context)
}
