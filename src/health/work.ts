import type * as v from 'valibot'
import type { Context } from '../context.js'
import { ENGINE_NAMES } from '../jobs/engine.js'
import { failureMessage } from '../model/errors.js'
import * as r from '../model/result.js'
import { withTimeout } from '../model/with-timeout.js'
import { deliveryTotals } from '../store/delivery-totals.js'
import { ChannelProblem, readChannelProblems } from './channels.js'
import { QUERY_TIMEOUT_MS } from './database.js'

const EngineHealth = r.object({
  name: r.oneOf(ENGINE_NAMES),
  /** Reason why the engine is unreachable, or null. */
  problem: r.nullable(r.text),
  runs_in_this_process: r.boolean,
})
type EngineHealth = v.InferOutput<typeof EngineHealth>

const FailedJob = r.object({
  name: r.text,
  attempts: r.integer,
  last_error: r.text,
  failed_at: r.time,
})

const FailedDelivery = r.object({
  channel: r.text,
  event: r.text,
  attempts: r.integer,
  last_response: r.nullable(r.text),
  created_at: r.time,
})

export const WorkHealth = r.object({
  engine: EngineHealth,
  /** Jobs by state, without empty states. */
  jobs: r.map(r.integer),
  /** Most recent jobs that failed permanently. */
  dead_letters: r.list(FailedJob),
  deliveries: r.object({
    /** Notifications by state, without empty states. */
    by_state: r.map(r.integer),
    /** Number of notifications to send now. */
    due: r.integer,
    last_failures: r.list(FailedDelivery),
    /** Channels whose last attempts failed, or whose oldest message waits too long. */
    channel_problems: r.list(ChannelProblem),
  }),
  /** Time of the last cleanup by any process. */
  cleanup: r.object({ last_run_at: r.nullable(r.time), retention_days: r.nullable(r.integer) }),
})
export type WorkHealth = v.InferOutput<typeof WorkHealth>

const MAX_RECENT_DELIVERIES = 1000
const MAX_LISTED_FAILURES = 5

/** State of background work; null if the database is unreachable. */
export async function workHealth(context: Context): Promise<WorkHealth | null> {
  try {
    const [engine, rest] = await Promise.all([readEngine(context), withTimeout(readWork(context), QUERY_TIMEOUT_MS)])
    return { ...engine, ...rest }
  } catch {
    // The database problem is reported separately.
    return null
  }
}

/** Reads the state of the job engine. Reports an unreachable engine instead of throwing. */
async function readEngine({ jobs, config }: Context): Promise<Pick<WorkHealth, 'engine' | 'jobs' | 'dead_letters'>> {
  const engine: EngineHealth = { name: jobs.name, problem: null, runs_in_this_process: config.run_jobs }
  try {
    const [counts, letters] = await withTimeout(
      Promise.all([jobs.counts(), jobs.deadLetters(MAX_LISTED_FAILURES)]),
      QUERY_TIMEOUT_MS,
    )
    return {
      engine,
      jobs: Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
      dead_letters: letters.map(({ name, attempts, last_error, failed_at }) => ({
        ...{ name, attempts, last_error },
        failed_at: new Date(failed_at).toISOString(),
      })),
    }
  } catch (error) {
    return { engine: { ...engine, problem: failureMessage(error) }, jobs: {}, dead_letters: [] }
  }
}

async function readWork({ database, config, now }: Context): Promise<Pick<WorkHealth, 'deliveries' | 'cleanup'>> {
  const { read } = database
  const newest = read.selectFrom('faultboard_deliveries').orderBy('created_at', 'desc').limit(MAX_RECENT_DELIVERIES)
  const { due } = await read
    .selectFrom('faultboard_deliveries')
    .select(({ fn }) => fn.countAll<number>().as('due'))
    .where('state', '=', 'pending')
    .where('run_at', '<=', now())
    .executeTakeFirstOrThrow()
  const failures = await read
    .selectFrom(
      newest.select(['id', 'state', 'channel', 'event', 'attempts', 'last_response', 'created_at']).as('newest'),
    )
    .selectAll()
    .where('state', '=', 'failed')
    .orderBy('created_at', 'desc')
    .limit(MAX_LISTED_FAILURES)
    .execute()
  const lease = await read
    .selectFrom('faultboard_leases')
    .select('last_run_at')
    .where('name', '=', 'cleanup')
    .executeTakeFirst()
  // Before the first run, the time is 0.
  const last_run_at = Number(lease?.last_run_at ?? 0)
  return {
    deliveries: {
      by_state: Object.fromEntries(await deliveryTotals(database)),
      due: Number(due),
      last_failures: failures.map(({ channel, event, attempts, last_response, created_at }) => ({
        channel,
        event,
        attempts: Number(attempts),
        last_response,
        created_at: new Date(created_at).toISOString(),
      })),
      channel_problems: await readChannelProblems(database, now()),
    },
    cleanup: {
      last_run_at: last_run_at > 0 ? new Date(last_run_at).toISOString() : null,
      retention_days: config.retention_days,
    },
  }
}
