import { calculateAllBaselines } from './analytics/baselines/baseline-calculator.js'
import { audibleSpikes } from './analytics/baselines/spiking-errors.js'
import { detectCascades } from './analytics/cascades/cascade-detector.js'
import { digestFigures } from './analytics/digest/digest.js'
import type { Context } from './context.js'
import { foldGuardHours } from './diagnostics/fold-guard-hours.js'
import { forgetHours } from './diagnostics/forget-hours.js'
import { forgetProcessHealth } from './diagnostics/health/forget-process-health.js'
import { removeOldSourceMaps } from './diagnostics/source-maps/remove-old-releases.js'
import { warnOfRememberedHeaders } from './health/forwarding-headers.js'
import type { JobName, RunningJob } from './jobs/engine.js'
import { handOn, isOthers } from './jobs/hand-on.js'
import { startSchedules } from './jobs/schedule.js'
import { lastDigest } from './model/digest-turn.js'
import { deliver } from './notifications/delivery/deliver.js'
import { forgetDeliveries } from './notifications/delivery/forget-deliveries.js'
import { isDigestWanted, sendDigest } from './notifications/digest.js'
import { alertOn, claimClosedHour } from './notifications/rules/baseline-alerts.js'
import { finishDispatching, startDispatching } from './notifications/rules/dispatch.js'
import { SCHEDULES } from './schedules.js'
import { ownApplicationId } from './store/applications.js'
import { forgetBudgets } from './store/recording/rejections.js'
import { forgetImports } from './transfer/forget-imports.js'
import { cleanupErrors } from './triage/commands/cleanup-errors.js'

/** How far back the hourly run adds up: a week has weekdays and a weekend. */
const CASCADE_HOURS = 7 * 24

/** THE TABLE of jobs: what each does, whichever engine carries it. */
const HANDLERS: Record<JobName, (context: Context, job: RunningJob) => Promise<unknown>> = {
  deliver: (context, { data, signal }) => deliver(context, Number(data.delivery_id), signal, data),
  record: ({ recorder }, { data }) => recorder.recordHandedOver(String(data.batch)),
  cleanup: async (context) => {
    await cleanupErrors.run(context, {})
    await forgetDeliveries(context)
    await forgetBudgets(context.database, context.now())
    await forgetProcessHealth(context)
    await forgetHours(context)
    await foldGuardHours(context)
    await removeOldSourceMaps(context)
    await forgetImports(context)
  },
  baselines: (context) => calculateAllBaselines.run(context, {}),
  cascades: (context) => detectCascades.run(context, { lookback_hours: CASCADE_HOURS }),
  baseline_alerts: sendBaselineAlerts,
  digest,
}

/** Compares the running hour with the baselines, and once each hour that has ended. */
export async function sendBaselineAlerts(context: Context): Promise<void> {
  const application_id = await ownApplicationId(context)
  if (application_id === null) return
  await alertOn(context, await audibleSpikes(context, application_id))
  const closedHour = await claimClosedHour(context, application_id)
  if (closedHour !== null) await alertOn(context, await audibleSpikes(context, application_id, closedHour), closedHour)
}

async function digest(context: Context, { data }: RunningJob): Promise<void> {
  const { config, now } = context
  if (config.digest_frequency === 'never' || !isDigestWanted(context)) return
  const at = lastDigest(Number(data.due_at), now(), config)
  const application_id = (await ownApplicationId(context)) ?? NOBODY
  await sendDigest(context, await digestFigures(context, config.digest_frequency, { at, application_id }))
}

/** An application that has no errors yet. */
const NOBODY = 0

async function work(context: Context, job: RunningJob): Promise<void> {
  if (isOthers(job, context)) {
    if (await handOn(context, job)) return
    // An error is written by anybody, if need be; what tells people is not told by the settings of others.
    if (job.name !== 'record') return
  }
  await HANDLERS[job.name](context, job)
}

/** What a tracker does beside the host's requests. */
export interface Work {
  /** Never rejects. */
  stop(): Promise<void>
}

/** Hands over what is due and, unless that is left to other processes, works on it. */
export function startWork(context: Context): Work {
  const stopSchedules = startSchedules(context, SCHEDULES)
  const stopDispatching = startDispatching(context)
  const cancelProxyWarning = warnOfRememberedHeaders(context)
  if (context.config.run_jobs) {
    context.jobs.work((job) => work(context, job))
  }
  return {
    async stop() {
      stopSchedules()
      stopDispatching()
      cancelProxyWarning()
      // What was accepted is handed over while there is an engine to hand it to.
      await context.recorder.flush()
      await finishDispatching(context)
      await context.jobs.stop()
    },
  }
}
