import type { Context } from '../context.js'
import { logStoredProxyWarning } from '../health/forwarding-headers.js'
import { warnIfSpoolUnwritable } from '../health/unwritable-spool.js'
import { DAY, HOUR, MINUTE } from '../model/time.js'
import { startDispatcher } from '../notifications/delivery/dispatcher.js'
import { nextDigest } from './digest-schedule.js'
import type { RunningJob } from './engine.js'
import { belongsToAnotherApplication, requeueForOwnApplication } from './requeue.js'
import { type Schedule, startSchedules } from './schedule.js'

const everyInterval = (interval: number) => (last_run_at: number) => last_run_at + interval

/** All scheduled jobs. Each run happens in one process. `perApplication` jobs use the settings of their application. */
export const SCHEDULES: readonly Schedule[] = [
  { name: 'cleanup', title: 'Daily cleanup', dueAt: everyInterval(DAY) },
  { name: 'baselines', title: 'Baseline calculation', dueAt: everyInterval(DAY) },
  { name: 'cascades', title: 'Cascade detection', dueAt: everyInterval(HOUR) },
  {
    name: 'baseline_alerts',
    title: 'Baseline alerts',
    dueAt: (last_run_at, { enable_baseline_alerts }) => (enable_baseline_alerts ? last_run_at + MINUTE : null),
    perApplication: true,
  },
  // A tracker installed at noon must not send that morning's digest.
  { name: 'digest', title: 'Digest', dueAt: nextDigest, perApplication: true, waitsForFirstRun: true },
]

async function runJob(context: Context, job: RunningJob): Promise<void> {
  if (belongsToAnotherApplication(job, context)) {
    if (await requeueForOwnApplication(context, job)) return
    // Any process may write an error. Notifications need the settings of their own application.
    if (job.name !== 'record') return
  }
  // Loaded with the first job, so that a host does not load mail, digests and analytics at startup.
  const { HANDLERS } = await import('./handlers.js')
  await HANDLERS[job.name](context, job)
}

/** Background jobs of a running tracker. */
export interface Jobs {
  /** Never rejects. */
  stop(): Promise<void>
}

/** Schedules jobs and, unless `run_jobs` is off, runs jobs and sends notifications in this process. */
export function startJobs(context: Context): Jobs {
  const stopSchedules = startSchedules(context, SCHEDULES)
  const dispatcher = context.config.run_jobs ? startDispatcher(context) : null
  const cancelProxyWarning = logStoredProxyWarning(context)
  const cancelSpoolWarning = warnIfSpoolUnwritable(context)
  if (context.config.run_jobs) {
    context.jobs.work((job) => runJob(context, job))
  }
  return {
    async stop() {
      stopSchedules()
      cancelProxyWarning()
      cancelSpoolWarning()
      // Flushed first, because the flush may enqueue accepted errors and write notifications.
      await context.recorder.flush()
      await Promise.all([dispatcher?.stop(), context.jobs.stop()])
    },
  }
}
