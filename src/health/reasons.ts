import { DAY } from '../model/time.js'
import { ignoredHeadersText } from './forwarding-headers.js'
import type { Health, HealthState, Reason } from './report.js'

type Facts = Omit<Health, 'state' | 'reasons'>

const SLOW_MS = 1000
const MANY_WAITING = 100
/** The option that names the engine's server. */
const SERVER_OF = { embedded: 'database', bullmq: 'redis_url', 'pg-boss': 'job_database, or database,' } as const
/** The cleanup runs daily; a process that was stopped over night may be late by as much again. */
const LATE = 2 * DAY

/** What is not as it should be, the worst first, each with what to do about it. */
export function reasonsFor(facts: Facts, now: number): Reason[] {
  const found = [...ofDatabase(facts), ...ofSpool(facts), ...ofDashboard(facts), ...ofWork(facts, now)]
  return found.sort((a, b) => Number(b.state === 'failing') - Number(a.state === 'failing'))
}

export function worst(reasons: readonly Reason[]): HealthState {
  return reasons[0]?.state ?? 'ok'
}

function* ofDatabase({ database, recorder, spool }: Facts): Iterable<Reason> {
  const { problem, reachable, latency_ms, address, damage, replaced_count } = database
  if (damage !== null) {
    yield failing(
      `${address} is damaged (${damage}). Errors are kept in ${spool.folder} and written when a good file is in its place. Run  npx faultboard check --repair  to save a copy and salvage the readable rows, or restore a backup.`,
    )
  } else if (!reachable) {
    const what = problem?.includes(address) ? problem : `Cannot use ${address}: ${problem}`
    yield failing(
      `${what?.replace(/\.$/, '')}. Errors are kept in ${spool.folder} and written when it is back. Check that the database runs and that the option database names it.`,
    )
  } else if (problem !== null) yield failing(problem)
  else if (recorder.away_since !== null) {
    yield degraded(
      `The database was out of reach since ${recorder.away_since}; errors go to the spool folder. It answers again, and what waits is written within seconds.`,
    )
  }
  if (replaced_count > 0) {
    yield degraded(
      `${address} was deleted or replaced while it was open (${replaced_count} ${replaced_count === 1 ? 'time' : 'times'} since this process started). New errors go to the new file; restore a backup if the old one contained errors you need. Restart the process to clear this warning.`,
    )
  }
  if (latency_ms !== null && latency_ms > SLOW_MS) {
    yield degraded(`${address} took ${latency_ms} ms for the simplest query. Check its load and the network.`)
  }
}

function* ofSpool({ spool, dropped }: Facts): Iterable<Reason> {
  const { folder, failed, bytes, max_bytes } = spool
  const lost = timesOf('spool_full', dropped)
  if (lost > 0) {
    yield failing(
      `${lost} errors were lost since this process started: ${folder} is full. Bring the database back, or raise spool_max_bytes.`,
    )
  } else if (bytes > max_bytes / 2) {
    yield degraded(`${folder} is more than half full. Bring the database back before spool_max_bytes is reached.`)
  }
  if (timesOf('spool_unwritable', dropped) > 0) {
    yield failing(`${folder} could not be written. Let this process write there, or set spool_path to another folder.`)
  }
  if (failed > 0) {
    yield degraded(
      `${failed} ${failed === 1 ? 'file was' : 'files were'} refused by the database and set aside in ${folder} as *.failed. Look at them, then delete them.`,
    )
  }
}

function* ofDashboard({ dropped }: Facts): Iterable<Reason> {
  const failed = timesOf('dashboard_failed', dropped)
  if (failed > 0) {
    yield degraded(
      `${failed} ${failed === 1 ? 'request' : 'requests'} to the dashboard failed since this process started. The log on standard error shows the cause.`,
    )
  }
  if (timesOf('forwarding_headers_ignored', dropped) > 0) yield degraded(ignoredHeadersText())
}

function* ofWork({ work, process }: Facts, now: number): Iterable<Reason> {
  if (!work) return
  const { deliveries, cleanup } = work
  yield* ofEngine(work)
  const failed = deliveries.by_state.failed
  if (failed) yield degraded(`${failed} of the newest messages could not be delivered. The last responses are below.`)
  if (cleanup.retention_days === null) return
  const last = cleanup.last_run_at === null ? null : Date.parse(cleanup.last_run_at)
  const isLate = last === null ? process.uptime_seconds * 1000 > LATE : now - last > LATE
  if (isLate) {
    yield degraded(
      `Old errors were last deleted ${last === null ? 'never' : `at ${cleanup.last_run_at}`}. Run  npx faultboard cleanup  and look for a warning about the daily cleanup in the log.`,
    )
  }
}

function* ofEngine({ engine, jobs, dead_letters: [last] }: NonNullable<Facts['work']>): Iterable<Reason> {
  const { name, problem, works_here } = engine
  if (problem !== null) {
    yield degraded(
      `The job engine ${name} cannot be used: ${problem.replace(/\.$/, '')}. Messages and schedules wait, and nothing is lost. Check that its server runs and that ${SERVER_OF[name]} names it.`,
    )
  }
  if (jobs.failed) {
    const why = last ? ` The last was ${last.name}: ${last.last_error.replace(/\.$/, '')}.` : ''
    yield degraded(`${jobs.failed} jobs failed for good.${why} Mend its cause; schedules come again by themselves.`)
  }
  if (!works_here && (jobs.waiting ?? 0) > MANY_WAITING) {
    yield degraded(
      `${jobs.waiting} jobs wait, and this process leaves them to others (run_jobs is off). Start  npx faultboard work`,
    )
  }
}

function timesOf(reason: string, dropped: Facts['dropped']): number {
  return dropped.find((one) => one.reason === reason)?.count ?? 0
}

const failing = (sentence: string): Reason => ({ state: 'failing', sentence })
const degraded = (sentence: string): Reason => ({ state: 'degraded', sentence })
