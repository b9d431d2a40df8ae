import type { Context } from '../context.js'
import { PATIENCE_MS } from './database.js'
import { inTime } from './in-time.js'

export interface WorkHealth {
  /** Jobs by state. */
  jobs: Record<string, number>
  /** The newest messages by state, and the last that could not be sent. */
  deliveries: { by_state: Record<string, number>; last_failures: FailedDelivery[] }
  /** When old errors were last deleted, by whichever process. */
  cleanup: { last_run_at: string | null; retention_days: number | null }
}

export interface FailedDelivery {
  channel: string
  event: string
  attempts: number
  last_answer: string | null
  created_at: string
}

const NEWEST = 1000
const FAILURES = 5

/** What is done beside the requests; null when the database cannot be asked. */
export async function workHealth(context: Context): Promise<WorkHealth | null> {
  try {
    return await inTime(readWork(context), PATIENCE_MS)
  } catch {
    // Why it cannot be asked is told with the database.
    return null
  }
}

async function readWork({ database, config }: Context): Promise<WorkHealth> {
  const { read } = database
  const jobs = await read
    .selectFrom('faultboard_jobs')
    .select(({ fn }) => ['state', fn.countAll<number>().as('count')])
    .groupBy('state')
    .execute()
  const newest = read.selectFrom('faultboard_deliveries').orderBy('created_at', 'desc').limit(NEWEST)
  const deliveries = await read
    .selectFrom(newest.select('state').as('newest'))
    .select(({ fn }) => ['state', fn.countAll<number>().as('count')])
    .groupBy('state')
    .execute()
  const failures = await read
    .selectFrom(
      newest.select(['id', 'state', 'channel', 'event', 'attempts', 'last_answer', 'created_at']).as('newest'),
    )
    .selectAll()
    .where('state', '=', 'failed')
    .orderBy('created_at', 'desc')
    .limit(FAILURES)
    .execute()
  const lease = await read
    .selectFrom('faultboard_leases')
    .select('last_run_at')
    .where('name', '=', 'cleanup')
    .executeTakeFirst()
  // The row is made before the first run, with a time at which nothing ran.
  const last_run_at = Number(lease?.last_run_at ?? 0)
  return {
    jobs: byState(jobs),
    deliveries: {
      by_state: byState(deliveries),
      last_failures: failures.map(({ channel, event, attempts, last_answer, created_at }) => ({
        channel,
        event,
        attempts: Number(attempts),
        last_answer,
        created_at: new Date(created_at).toISOString(),
      })),
    },
    cleanup: {
      last_run_at: last_run_at > 0 ? new Date(last_run_at).toISOString() : null,
      retention_days: config.retention_days,
    },
  }
}

function byState(rows: readonly { state: string; count: number }[]): Record<string, number> {
  return Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)]))
}
