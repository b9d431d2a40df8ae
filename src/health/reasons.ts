import { DAY } from '../model/time.js'
import { channelProblemText } from './channels.js'
import { ignoredHeadersText } from './forwarding-headers.js'
import type { Health, HealthState, Reason } from './report.js'

type Facts = Omit<Health, 'state' | 'reasons' | 'hints'>

const SLOW_QUERY_MS = 1000
const MAX_WAITING = 100
/** Option that configures the server of each engine. */
const ENGINE_OPTION = { embedded: 'database', bullmq: 'redis_url', 'pg-boss': 'job_database, or database,' } as const
/** The cleanup runs daily, but a process that is stopped overnight may be a day late. */
const CLEANUP_OVERDUE_MS = 2 * DAY

/** Problems with their solutions, most severe first. */
export function healthReasons(facts: Facts, now: number): Reason[] {
  const reasons = [
    ...databaseReasons(facts),
    ...spoolReasons(facts),
    ...dashboardReasons(facts),
    ...workReasons(facts, now),
  ]
  return reasons.sort((a, b) => Number(b.state === 'failing') - Number(a.state === 'failing'))
}

export function overallState(reasons: readonly Reason[]): HealthState {
  return reasons[0]?.state ?? 'ok'
}

function* databaseReasons({ database, recorder, spool }: Facts): Iterable<Reason> {
  const { problem, reachable, latency_ms, address, damage, replaced_count } = database
  if (damage !== null) {
    yield failing(
      `${address} is damaged (${damage}). Errors are kept in ${spool.folder} and written once the file is replaced. Run  npx faultboard check --repair  to back up the file and recover the readable rows, or restore a backup.`,
    )
  } else if (!reachable) {
    const description = problem?.includes(address) ? problem : `Cannot use ${address}: ${problem}`
    yield failing(
      `${description?.replace(/\.$/, '')}. Errors are kept in ${spool.folder} and written when the database is available again. Check that the database is running and that the database option is correct.`,
    )
  } else if (problem !== null) yield failing(problem)
  else if (recorder.unavailable_since !== null) {
    // The database is readable, so it is read-only, full or just available again.
    yield failing(
      `${address} has not accepted errors since ${recorder.unavailable_since}: ${recorder.unavailable_reason?.replace(/\.$/, '')}. Errors are written within seconds once the database accepts them again. Check the free space, the file permissions, and whether the disk or the server is read-only.`,
    )
  }
  if (replaced_count > 0) {
    yield degraded(
      `${address} was deleted or replaced while it was open (${replaced_count} ${replaced_count === 1 ? 'time' : 'times'} since this process started). New errors go to the new file; restore a backup if the old file contained errors you need. Restart the process to clear this warning.`,
    )
  }
  if (latency_ms !== null && latency_ms > SLOW_QUERY_MS) {
    yield degraded(`${address} took ${latency_ms} ms to run a trivial query. Check its load and the network.`)
  }
}

function* spoolReasons({ spool, dropped }: Facts): Iterable<Reason> {
  const { folder, failed, bytes, max_bytes } = spool
  const lost = dropCount('spool_full', dropped)
  if (lost > 0) {
    yield failing(
      `${lost} ${lost === 1 ? 'error was' : 'errors were'} lost since this process started: ${folder} is full. Restore the database, or raise spool_max_bytes.`,
    )
  } else if (bytes > max_bytes / 2) {
    yield degraded(`${folder} is more than half full. Restore the database before spool_max_bytes is reached.`)
  }
  if (dropCount('spool_unwritable', dropped) + dropCount('journal_unwritable', dropped) > 0) {
    yield failing(`${folder} is not writable. Grant this process write access, or set spool_path to another folder.`)
  }
  if (failed > 0) {
    yield degraded(
      `${failed} ${failed === 1 ? 'file was' : 'files were'} rejected by the database and kept in ${folder} as *.failed. Inspect and then delete them.`,
    )
  }
}

function* dashboardReasons({ dropped }: Facts): Iterable<Reason> {
  const failed = dropCount('dashboard_failed', dropped)
  if (failed > 0) {
    yield degraded(
      `${failed} ${failed === 1 ? 'request' : 'requests'} to the dashboard failed since this process started. The log on standard error shows the cause.`,
    )
  }
  if (dropCount('forwarding_headers_ignored', dropped) > 0) yield degraded(ignoredHeadersText())
}

function* workReasons({ work, process }: Facts, now: number): Iterable<Reason> {
  if (!work) return
  const { deliveries, cleanup } = work
  yield* engineReasons(work)
  for (const problem of deliveries.channel_problems) yield degraded(channelProblemText(problem))
  if (cleanup.retention_days === null) return
  const lastRun = cleanup.last_run_at === null ? null : Date.parse(cleanup.last_run_at)
  const elapsedMs = lastRun === null ? process.uptime_seconds * 1000 : now - lastRun
  if (elapsedMs > CLEANUP_OVERDUE_MS) {
    yield degraded(
      `${lastRun === null ? 'Old errors have never been deleted' : `Old errors were last deleted at ${cleanup.last_run_at}`}. Run  npx faultboard cleanup  and check the log for a warning about the daily cleanup.`,
    )
  }
}

function* engineReasons(work: NonNullable<Facts['work']>): Iterable<Reason> {
  const {
    engine,
    jobs,
    deliveries,
    dead_letters: [last],
  } = work
  const { name, problem, runs_in_this_process } = engine
  if (problem !== null) {
    yield degraded(
      `Cannot use the job engine ${name}: ${problem.replace(/\.$/, '')}. Scheduled jobs are waiting; nothing is lost. Check that its server is running and that ${ENGINE_OPTION[name]} is correct.`,
    )
  }
  if (jobs.failed) {
    const lastFailure = last ? ` The last was ${last.name}: ${last.last_error.replace(/\.$/, '')}.` : ''
    yield degraded(
      `${jobs.failed} ${jobs.failed === 1 ? 'job' : 'jobs'} failed permanently.${lastFailure} Fix the cause; scheduled jobs run again automatically.`,
    )
  }
  const waiting = (jobs.waiting ?? 0) + deliveries.due
  if (!runs_in_this_process && waiting > MAX_WAITING) {
    yield degraded(
      `${waiting} jobs and notifications are waiting, and this process does not run jobs (run_jobs is off). Run  npx faultboard work`,
    )
  }
}

function dropCount(reason: string, dropped: Facts['dropped']): number {
  return dropped.find((entry) => entry.reason === reason)?.count ?? 0
}

const failing = (message: string): Reason => ({ state: 'failing', message })
const degraded = (message: string): Reason => ({ state: 'degraded', message })
