import { createHash, randomUUID } from 'node:crypto'
import type { Options } from '../config/options.js'
import type { Context } from '../context.js'
import { MINUTE } from '../model/time.js'
import { LEASES } from '../store/bulk/bulk-targets.js'
import type { JobName } from './engine.js'
import { isReportedByRecorder, reasonOf } from './reason.js'
import { MAX_CLOCK_SKEW_MS } from './timing.js'

/** A recurring job that runs in one of all processes. */
export interface Schedule {
  /** Name of the job, and of its row in the database. */
  name: JobName
  /** Start of a log message about it. */
  title: string
  /** Time of the next run, given the last one; null if it is disabled. */
  dueAt(last_run_at: number, config: Options): number | null
  /** Whether each application of the database has its own schedule; otherwise all applications share a schedule. */
  perApplication?: boolean
  /** Whether to wait for the first due time; otherwise it runs as soon as the schedule is known. */
  waitsForFirstRun?: boolean
}

/** Gives a starting host time for more urgent work. */
const FIRST_CHECK_MS = MINUTE
const CHECK_MS = 15_000
/** Time to wait for a process that died while it enqueued a job. */
const LEASE_MS = MINUTE

/** Enqueues due jobs. Returns the function that stops it. */
export function startSchedules(context: Context, schedules: readonly Schedule[]): () => void {
  let timer: NodeJS.Timeout
  let stopped = false
  const check = async () => {
    for (const schedule of schedules) if (!stopped) await enqueueQuietly(context, schedule)
    if (!stopped) checkIn(CHECK_MS)
  }
  const checkIn = (milliseconds: number) => {
    timer = setTimeout(() => void check(), milliseconds).unref()
  }
  checkIn(FIRST_CHECK_MS)
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
    context.log.warn(`${schedule.title}: could not enqueue the job: ${reasonOf(error)}`)
  }
}

/**
 * Enqueues the job unless it already ran, here or in another process; returns whether it did. Missed runs are combined
 * into one. The date is written after the job is durable: if a process dies in between, another one enqueues it again
 * under the same key.
 */
export async function enqueueIfDue(context: Context, schedule: Schedule): Promise<boolean> {
  const { config, jobs, now, ready } = context
  const { name, dueAt, perApplication } = schedule
  // A disabled schedule is not started.
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

/** The name can be longer than the lease column. */
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

/** A clock that was once a year ahead would delay the next run by a year. */
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

/** Of many concurrent processes, the one whose update matches the old date wins. */
async function takeLease(
  { database, now }: Context,
  name: string,
  lastRunAt: number,
  holder: string,
): Promise<boolean> {
  const update = await database.write((trx) =>
    trx
      .updateTable('faultboard_leases')
      .set({ holder, expires_at: now() + LEASE_MS })
      .where('name', '=', name)
      .where(({ eb }) => eb(eb.fn.coalesce('last_run_at', eb.lit(0)), '=', lastRunAt))
      // A later end was set before the clock was set back.
      .where(({ eb, or }) =>
        or([eb('expires_at', '<=', now()), eb('expires_at', '>', now() + LEASE_MS + MAX_CLOCK_SKEW_MS)]),
      )
      .executeTakeFirst(),
  )
  return update.numUpdatedRows > 0n
}
