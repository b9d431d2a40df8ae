import { calculateAllBaselines } from '../analytics/baselines/baseline-calculator.js'
import { alertableSpikes } from '../analytics/baselines/spiking-errors.js'
import { detectCascades } from '../analytics/cascades/cascade-detector.js'
import { digestFigures } from '../analytics/digest/digest.js'
import type { Context } from '../context.js'
import { warnOfRememberedHeaders } from '../health/forwarding-headers.js'
import { DAY, HOUR, MINUTE } from '../model/time.js'
import { deliver } from '../notifications/delivery/deliver.js'
import { flushDispatcher, startDispatcher } from '../notifications/delivery/dispatcher.js'
import { deleteOldDeliveries } from '../notifications/delivery/expire-deliveries.js'
import { claimClosedHour, writeBaselineAlerts } from '../notifications/rules/baseline-alerts.js'
import { isDigestEnabled, sendDigest } from '../notifications/send-digest.js'
import { ownApplicationId } from '../store/applications.js'
import { deleteOldBudgetRows } from '../store/counters/rejections.js'
import { forgetImports } from '../transfer/forget-imports.js'
import { cleanupErrors } from '../triage/commands/cleanup-errors.js'
import { lastDigest, nextDigest } from './digest-schedule.js'
import type { JobName, RunningJob } from './engine.js'
import { belongsToAnotherApplication, requeueForOwnApplication } from './requeue.js'
import { type Schedule, startSchedules } from './schedule.js'

/** One week, because weekdays and weekends differ. */
const CASCADE_HOURS = 7 * 24

/** THE TABLE of jobs. Every engine runs the same handlers. */
const HANDLERS: Record<JobName, (context: Context, job: RunningJob) => Promise<unknown>> = {
  deliver: (context, { data, signal }) => deliver(context, Number(data.delivery_id), signal, data),
  record: ({ recorder }, { data }) => recorder.recordEnqueuedBatch(String(data.batch)),
  cleanup: async (context) => {
    await cleanupErrors.run(context, {})
    await deleteOldDeliveries(context)
    await deleteOldBudgetRows(context.database, context.now())
    for (const deleteOutdated of context.retention) await deleteOutdated(context)
    await forgetImports(context)
  },
  baselines: (context) => calculateAllBaselines.run(context, {}),
  cascades: (context) => detectCascades.run(context, { lookback_hours: CASCADE_HOURS }),
  baseline_alerts: sendBaselineAlerts,
  digest: runDigest,
}

const everyInterval = (interval: number) => (last_run_at: number) => last_run_at + interval

/** THE LIST of scheduled jobs. Each runs in one of all processes; `perApplication` jobs use the settings of their application. */
export const SCHEDULES: readonly Schedule[] = [
  { name: 'cleanup', title: 'The daily cleanup', dueAt: everyInterval(DAY) },
  { name: 'baselines', title: 'The calculation of baselines', dueAt: everyInterval(DAY) },
  { name: 'cascades', title: 'The detection of cascades', dueAt: everyInterval(HOUR) },
  {
    name: 'baseline_alerts',
    title: 'The comparison with the baselines',
    dueAt: (last_run_at, { enable_baseline_alerts }) => (enable_baseline_alerts ? last_run_at + MINUTE : null),
    perApplication: true,
  },
  // An installation at noon must not send the digest of that morning.
  { name: 'digest', title: 'The digest', dueAt: nextDigest, perApplication: true, waitsForFirstRun: true },
]

/** Compares the current hour with the baselines, and each finished hour once. */
export async function sendBaselineAlerts(context: Context): Promise<void> {
  const application_id = await ownApplicationId(context)
  if (application_id === null) return
  await writeBaselineAlerts(context, await alertableSpikes(context, application_id))
  const closedHour = await claimClosedHour(context, application_id)
  if (closedHour !== null)
    await writeBaselineAlerts(context, await alertableSpikes(context, application_id, closedHour), closedHour)
}

async function runDigest(context: Context, { data }: RunningJob): Promise<void> {
  const { config, now } = context
  if (config.digest_frequency === 'never' || !isDigestEnabled(context)) return
  const at = lastDigest(Number(data.due_at), now(), config)
  const application_id = (await ownApplicationId(context)) ?? NO_APPLICATION
  await sendDigest(context, await digestFigures(context, config.digest_frequency, { at, application_id }))
}

/** Record ids start at 1. An application without errors has no record yet. */
const NO_APPLICATION = 0

async function runJob(context: Context, job: RunningJob): Promise<void> {
  if (belongsToAnotherApplication(job, context)) {
    if (await requeueForOwnApplication(context, job)) return
    // Any process may write an error. Notifications need the settings of their own application.
    if (job.name !== 'record') return
  }
  await HANDLERS[job.name](context, job)
}

/** Background jobs of a running tracker. */
export interface Jobs {
  /** Never rejects. */
  stop(): Promise<void>
}

/** Schedules jobs and, unless `run_jobs` is off, runs them in this process. */
export function startJobs(context: Context): Jobs {
  const stopSchedules = startSchedules(context, SCHEDULES)
  const stopDispatching = startDispatcher(context)
  const cancelProxyWarning = warnOfRememberedHeaders(context)
  if (context.config.run_jobs) {
    context.jobs.work((job) => runJob(context, job))
  }
  return {
    async stop() {
      stopSchedules()
      stopDispatching()
      cancelProxyWarning()
      // The engine stops last, because the flush may enqueue accepted errors and notifications.
      await context.recorder.flush()
      await flushDispatcher(context)
      await context.jobs.stop()
    },
  }
}
