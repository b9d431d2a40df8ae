import type { Context } from '../context.js'
import { BUDGETS } from '../model/budgets.js'
import { describeDropReason } from '../model/drop-reasons.js'
import { isoTime } from '../model/time.js'
import { VERSION } from '../model/version.js'
import { withTimeout } from '../model/with-timeout.js'
import { recentRejections } from '../store/counters/rejections.js'
import { databaseHealth, QUERY_TIMEOUT_MS } from './database.js'
import { environmentHints } from './hints.js'
import { healthReasons, overallState } from './reasons.js'
import type { Dropped, Health, ProcessHealth, RejectedByBudget } from './report.js'
import { workHealth } from './work.js'

export type { WorkHealth } from './work.js'

/** Reads the health of the tracker. Works without a database connection. */
export async function readHealth(context: Context): Promise<Health> {
  const database = await databaseHealth(context)
  const isReadable = database.reachable && database.problem === null
  const facts = {
    recorder: recorderState(context),
    dropped: dropCounts(context),
    spool: { ...(await context.spool.state()), max_bytes: context.config.spool_max_bytes },
    database,
    rejections: isReadable ? await readRejections(context) : null,
    work: isReadable ? await workHealth(context) : null,
    process: processHealth(),
  }
  const reasons = healthReasons(facts, context.now())
  return { state: overallState(reasons), reasons, hints: isReadable ? await readHints(context) : [], ...facts }
}

async function readRejections({ database, config, tallies, now }: Context): Promise<RejectedByBudget[] | null> {
  try {
    await withTimeout(tallies.flush(), QUERY_TIMEOUT_MS)
    const rejections = await withTimeout(recentRejections(database, now()), QUERY_TIMEOUT_MS)
    return rejections.map(({ budget, count, first_seen_at, last_seen_at }) => ({
      option: budget,
      limit: config[budget],
      count,
      first_rejected_at: new Date(first_seen_at).toISOString(),
      last_rejected_at: new Date(last_seen_at).toISOString(),
      text: `${BUDGETS[budget].title}. ${BUDGETS[budget].consequence} Raise ${budget} if this volume is expected.`,
    }))
  } catch {
    // The database problem is reported separately.
    return null
  }
}

async function readHints({ database, config }: Context): Promise<string[]> {
  // The database problem is reported separately.
  return withTimeout(environmentHints(database, config), QUERY_TIMEOUT_MS).catch(() => [])
}

export function dropCounts({ counters }: Context): Dropped[] {
  return Object.entries(counters.toJSON()).map(([reason, count]) => ({
    reason,
    count,
    text: describeDropReason(reason),
  }))
}

export function recorderState({ recorder }: Context): Health['recorder'] {
  const { unavailable_since, last_flush_at, ...state } = recorder.state
  return { ...state, unavailable_since: isoTime(unavailable_since), last_flush_at: isoTime(last_flush_at) }
}

function processHealth(): ProcessHealth {
  return {
    faultboard_version: VERSION,
    node_version: process.version,
    pid: process.pid,
    uptime_seconds: Math.round(process.uptime()),
    memory_bytes: process.memoryUsage.rss(),
  }
}

export type { HealthState, Reason } from './report.js'
