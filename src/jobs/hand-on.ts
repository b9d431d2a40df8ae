import type { Context } from '../context.js'
import type { RunningJob } from './engine.js'

/**
 * Whether the job belongs to another application. Applications can share a database and an engine, each with its own
 * settings.
 */
export function isOthers({ data }: RunningJob, { config }: Pick<Context, 'config'>): boolean {
  const { application_name } = data
  return typeof application_name === 'string' && application_name !== config.application_name
}

const PAUSE_MS = 2000
/** Attempts to leave a job to a process of its application, for about half a minute. */
const MOST_TIMES = 15
/** Enough for any database outage. */
const MAX_ATTEMPTS = 1000

/** Requeues a job for a process of its own application; returns false once the attempts are exhausted. */
export async function handOn(
  { jobs, now }: Pick<Context, 'jobs' | 'now'>,
  { name, data }: RunningJob,
): Promise<boolean> {
  const handed_on = Number(data.handed_on ?? 0) + 1
  if (handed_on > MOST_TIMES) return false
  await jobs.add([{ name, data: { ...data, handed_on }, run_at: now() + PAUSE_MS, max_attempts: MAX_ATTEMPTS }])
  return true
}
