import { createHash, randomUUID } from 'node:crypto'
import type { Options } from '../config/options.js'
import type { Context } from '../context.js'
import { MINUTE } from '../model/time.js'
import { LEASES } from '../store/bulk/bulk-targets.js'
import type { JobName } from './engine.js'
import { failureReason, isReportedByRecorder } from './reason.js'
import { MAX_CLOCK_SKEW_MS } from './timing.js'

/** A recurring job. Each run happens in a single process. */
export interface Schedule {
  /** Name of the job and of its row in the database. */
  name: JobName
  /** Prefix of log messages about the job. */
  title: string
  /** Time of the next run, given the last run; null if the job is disabled. */
  dueAt(last_run_at: number, config: Options): number | null
  /** True if each application has its own schedule. By default, all applications of a database share one schedule. */
  perApplication?: boolean
  /** True if a new schedule waits for its first due time. By default, the first run starts right away. */
  waitsForFirstRun?: boolean
}

/** Leaves a starting host time for more urgent work. */
const FIRST_CHECK_DELAY_MS = MINUTE
const CHECK_INTERVAL_MS = 15_000
/** How long the lease of a process that dies while enqueuing a job blocks other processes. */
const LEASE_MS = MINUTE

/** Checks for due jobs periodically and enqueues them. Returns a function that stops the checks. */
export function startSchedules(context: Context, schedules: readonly Schedule[]): () => void {
  let timer: NodeJS.Timeout
  let stopped = false
  const check = async () => {
    for (const schedule of schedules) if (!stopped) await enqueueQuietly(context, schedule)
    if (!stopped) scheduleCheck(CHECK_INTERVAL_MS)
  }
  const scheduleCheck = (milliseconds: number) => {
    timer = setTimeout(() => void check(), milliseconds).unref()
  }
  scheduleCheck(FIRST_CHECK_DELAY_MS)
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}

async function enqueueQuietly(context: Context, schedule: Schedule): Promise<void> {
  try {
    await enqueueIfDue(context, schedule)
  } catch (error) {
    if (isReportedByRecorder(error)) return
    context.log.warn(`${schedule.title}: could not enqueue the job: ${failureReason(error)}`)
  }
}

/**
 * Enqueues the job if it is due and no other process has enqueued it. Returns whether the job was enqueued. Missed runs
 * are combined into one. The run time is stored only after the job is durable. If a process dies in between, another
 * process enqueues the job again under the same key.
 */
export async function enqueueIfDue(context: Context, schedule: Schedule): Promise<boolean> {
  const { config, jobs, now, ready } = context
  const { name, dueAt, perApplication } = schedule
  // A disabled schedule needs no database access.
  if (dueAt(0, config) === null) return false
  await ready()
  const lease = leaseName(schedule, config)
  const lastRunAt = await readLastRun(context, schedule)
  const due_at = dueAt(lastRunAt, config)
  if (due_at === null || due_at > now()) return false
  const holder = randomUUID()
  if (!(await takeLease(context, lease, lastRunAt, holder))) return false
  const data = perApplication ? { due_at, application_name: config.application_name } : { due_at }
  await jobs.add([{ name, data, key: `${lease}:${lastRunAt}` }])
  await context.database.write((trx) =>
    trx
      .updateTable('faultboard_leases')
      .set({ last_run_at: now(), holder: null, expires_at: 0 })
      .where('name', '=', lease)
      .where('holder', '=', holder)
      .execute(),
  )
  return true
}

/** Hashed because an application name can be longer than the column. */
function leaseName({ name, perApplication }: Schedule, { application_name }: Options): string {
  if (!perApplication) return name
  return `${name}:${createHash('sha256').update(application_name).digest('hex').slice(0, 32)}`
}

async function readLastRun(context: Context, schedule: Schedule): Promise<number> {
  const { database, config, now } = context
  const name = leaseName(schedule, config)
  const lease = () =>
    database.read.selectFrom('faultboard_leases').select('last_run_at').where('name', '=', name).executeTakeFirst()
  const existing = await lease()
  if (existing) return correctFutureRun(context, name, existing.last_run_at ?? 0)
  const initialRunAt = schedule.waitsForFirstRun ? now() : 0
  await database.write(async (trx) => void (await database.dialect.insertMany(trx, LEASES, [[name, 0, initialRunAt]])))
  return (await lease())?.last_run_at ?? initialRunAt
}

/** Resets a last run in the future, which a wrong clock can leave behind. It would delay the next run. */
async function correctFutureRun({ database, now }: Context, name: string, lastRunAt: number): Promise<number> {
  const time = now()
  if (lastRunAt <= time + MAX_CLOCK_SKEW_MS) return lastRunAt
  await database.write((trx) =>
    trx
      .updateTable('faultboard_leases')
      .set({ last_run_at: time })
      .where('name', '=', name)
      .where('last_run_at', '=', lastRunAt)
      .execute(),
  )
  return time
}

/** Takes the lease unless another process holds it or has already enqueued this run. */
async function takeLease(
  { database, now }: Context,
  name: string,
  lastRunAt: number,
  holder: string,
): Promise<boolean> {
  const result = await database.write((trx) =>
    trx
      .updateTable('faultboard_leases')
      .set({ holder, expires_at: now() + LEASE_MS })
      .where('name', '=', name)
      .where(({ eb }) => eb(eb.fn.coalesce('last_run_at', eb.lit(0)), '=', lastRunAt))
      // An end further ahead was stored before the clock was set back.
      .where(({ eb, or }) =>
        or([eb('expires_at', '<=', now()), eb('expires_at', '>', now() + LEASE_MS + MAX_CLOCK_SKEW_MS)]),
      )
      .executeTakeFirst(),
  )
  return result.numUpdatedRows > 0n
}
