import type { Context } from '../context.js'
import type { RunningJob } from './engine.js'

/**
 * Returns true if the job belongs to another application. Applications can share a database and an engine, each with
 * its own settings.
 */
export function belongsToAnotherApplication({ data }: RunningJob, { config }: Pick<Context, 'config'>): boolean {
  const { application_name } = data
  return typeof application_name === 'string' && application_name !== config.application_name
}

const REQUEUE_DELAY_MS = 2000
/** About half a minute for a process of the job's own application to claim it. */
const MAX_REQUEUES = 15
/** High enough for a job to survive any database outage. */
const MAX_ATTEMPTS = 1000

/** Requeues a job for a process of its own application; returns false once the attempts are exhausted. */
export async function requeueForOwnApplication(
  { jobs, now }: Pick<Context, 'jobs' | 'now'>,
  { name, data }: RunningJob,
): Promise<boolean> {
  const requeues = Number(data.requeues ?? 0) + 1
  if (requeues > MAX_REQUEUES) return false
  await jobs.add([{ name, data: { ...data, requeues }, run_at: now() + REQUEUE_DELAY_MS, max_attempts: MAX_ATTEMPTS }])
  return true
}
