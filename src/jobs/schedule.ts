import { createHash, randomUUID } from 'node:crypto'
import type { Options } from '../config/options.js'
import type { Context } from '../context.js'
import { MINUTE } from '../model/time.js'
import { LEASES } from '../store/bulk-targets.js'
import type { JobName } from './engine.js'
import { isSaidByOthers, reasonOf } from './reason.js'

/** Something that is to happen now and then, in one process of many. */
export interface Schedule {
  /** The job that does it, and its row in the database, where all processes look. */
  name: JobName
  /** What a complaint about it begins with. */
  title: string
  /** When its next turn is, by its last one; null: never, as things are configured. */
  dueAt(last_run_at: number, config: Options): number | null
  /** Whether every application of the database has its own turns; otherwise all have one together. */
  per_application?: boolean
  /** Whether the first turn is awaited; otherwise it comes as soon as the schedule is known. */
  awaits_first?: boolean
}

/** A host that starts has other things to do first. */
const FIRST_CHECK_MS = MINUTE
const CHECK_MS = 15_000
/** A process that died while it handed a job over is waited for so long. */
const LEASE_MS = MINUTE

/** Hands over the jobs whose time has come; gives the function that ends it. */
export function startSchedules(context: Context, schedules: readonly Schedule[]): () => void {
  let timer: NodeJS.Timeout
  let stopped = false
  const check = async () => {
    for (const schedule of schedules) if (!stopped) await handOverQuietly(context, schedule)
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

async function handOverQuietly(context: Context, schedule: Schedule): Promise<void> {
  try {
    await handOverIfDue(context, schedule)
  } catch (error) {
    if (isSaidByOthers(error)) return
    context.log.warn(`${schedule.title} could not be handed to the job engine: ${reasonOf(error)}`)
  }
}

/**
 * Hands the job over unless it had its turn, here or in another process; gives whether it did. Turns that were missed
 * are caught up in one. The date is written after the job is safe: when a process dies between, another one hands it
 * over once more, under the same key.
 */
export async function handOverIfDue(context: Context, schedule: Schedule): Promise<boolean> {
  const { config, jobs, now, ready } = context
  const { name, dueAt, per_application } = schedule
  // What is switched off is not begun either.
  if (dueAt(0, config) === null) return false
  await ready()
  const lease = leaseOf(schedule, config)
  const last = await lastTurn(context, schedule)
  const due_at = dueAt(last, config)
  if (due_at === null || due_at > now()) return false
  const holder = randomUUID()
  if (!(await takeLease(context, lease, last, holder))) return false
  const data = per_application ? { due_at, application_name: config.application_name } : { due_at }
  await jobs.add([{ name, data, key: `${lease}:${last}` }])
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

/** A name may be longer than that of a lease. */
function leaseOf({ name, per_application }: Schedule, { application_name }: Options): string {
  if (!per_application) return name
  return `${name}:${createHash('sha256').update(application_name).digest('hex').slice(0, 32)}`
}

async function lastTurn(context: Context, schedule: Schedule): Promise<number> {
  const { database, config, now } = context
  const name = leaseOf(schedule, config)
  const lease = () =>
    database.read.selectFrom('faultboard_leases').select('last_run_at').where('name', '=', name).executeTakeFirst()
  const known = await lease()
  if (known) return withoutFuture(context, name, known.last_run_at ?? 0)
  const first = schedule.awaits_first ? now() : 0
  await database.write(async (trx) => void (await database.dialect.insertMany(trx, LEASES, [[name, 0, first]])))
  return (await lease())?.last_run_at ?? first
}

/** The clocks of several machines differ by that. */
const SKEW_MS = MINUTE

/** A clock that once was a year ahead would put off the next turn by a year. */
async function withoutFuture({ database, now }: Context, name: string, last: number): Promise<number> {
  const time = now()
  if (last <= time + SKEW_MS) return last
  await database.write((trx) =>
    trx
      .updateTable('faultboard_leases')
      .set({ last_run_at: time })
      .where('name', '=', name)
      .where('last_run_at', '=', last)
      .execute(),
  )
  return time
}

/** Of many processes that ask at the same time, the one whose update finds the old date has the turn. */
async function takeLease({ database, now }: Context, name: string, last: number, holder: string): Promise<boolean> {
  const taken = await database.write((trx) =>
    trx
      .updateTable('faultboard_leases')
      .set({ holder, expires_at: now() + LEASE_MS })
      .where('name', '=', name)
      .where(({ eb }) => eb(eb.fn.coalesce('last_run_at', eb.lit(0)), '=', last))
      .where('expires_at', '<=', now())
      .executeTakeFirst(),
  )
  return taken.numUpdatedRows > 0n
}
