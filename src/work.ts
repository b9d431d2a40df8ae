import { calculateAllBaselines } from './analytics/baseline-calculator.js'
import { detectCascades } from './analytics/cascade-detector.js'
import { digestFigures } from './analytics/digest.js'
import { audibleSpikes } from './analytics/spiking-errors.js'
import type { Context } from './context.js'
import type { JobName, RunningJob } from './jobs/engine.js'
import { startSchedules } from './jobs/schedule.js'
import { alertOn } from './notifications/baseline-alerts.js'
import { deliver } from './notifications/deliver.js'
import { isDigestWanted, sendDigest } from './notifications/digest.js'
import { startDispatching } from './notifications/dispatch.js'
import { forgetDeliveries } from './notifications/forget-deliveries.js'
import { SCHEDULES } from './schedules.js'
import { cleanupErrors } from './triage/cleanup-errors.js'

/** How far back the hourly run adds up: a week has weekdays and a weekend. */
const CASCADE_HOURS = 7 * 24

/** THE TABLE of jobs: what each does, whichever engine carries it. */
const HANDLERS: Record<JobName, (context: Context, job: RunningJob) => Promise<unknown>> = {
  deliver: (context, { data, signal }) => deliver(context, Number(data.delivery_id), signal),
  record: ({ recorder }, { data }) => recorder.recordHandedOver(String(data.batch)),
  cleanup: async (context) => {
    await cleanupErrors.run(context, {})
    await forgetDeliveries(context)
  },
  baselines: (context) => calculateAllBaselines.run(context, {}),
  cascades: (context) => detectCascades.run(context, { lookback_hours: CASCADE_HOURS }),
  baseline_alerts: async (context) => alertOn(context, await audibleSpikes(context)),
  digest: (context) => digest(context),
}

async function digest(context: Context): Promise<void> {
  const { digest_frequency } = context.config
  if (digest_frequency === 'never' || !isDigestWanted(context)) return
  await sendDigest(context, await digestFigures(context, digest_frequency))
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
  if (context.config.run_jobs) {
    context.jobs.work(async (job) => {
      await HANDLERS[job.name](context, job)
    })
  }
  return {
    async stop() {
      stopSchedules()
      stopDispatching()
      // What was accepted is handed over while there is an engine to hand it to.
      await context.recorder.flush()
      await context.jobs.stop()
    },
  }
}
