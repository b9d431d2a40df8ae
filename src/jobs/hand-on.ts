import type { Context } from '../context.js'
import type { RunningJob } from './engine.js'

/** Several applications may share a database and an engine, and each goes by its own settings. */
export function isOthers({ data }: RunningJob, { config }: Pick<Context, 'config'>): boolean {
  const { application_name } = data
  return typeof application_name === 'string' && application_name !== config.application_name
}

const PAUSE_MS = 2000
/** So often a job is left for a process of its application: for about half a minute. */
const MOST_TIMES = 15
/** However long the database is away. */
const MAX_ATTEMPTS = 1000

/** Puts a job back for a process of its own application; gives false once none has come for it. */
export async function handOn(
  { jobs, now }: Pick<Context, 'jobs' | 'now'>,
  { name, data }: RunningJob,
): Promise<boolean> {
  const handed_on = Number(data.handed_on ?? 0) + 1
  if (handed_on > MOST_TIMES) return false
  await jobs.add([{ name, data: { ...data, handed_on }, run_at: now() + PAUSE_MS, max_attempts: MAX_ATTEMPTS }])
  return true
}
