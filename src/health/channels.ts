import type * as v from 'valibot'
import type { Context } from '../context.js'
import * as r from '../model/result.js'
import { isoTime, MINUTE } from '../model/time.js'
import type { Database } from '../store/database.js'
import { sql } from '../store/kysely.js'

/** Notification channel of an application that fails to deliver. */
export const ChannelProblem = r.object({
  channel: r.text,
  /** Null before the first error of the application. */
  application_name: r.nullable(r.text),
  /** Number of failed attempts since the last success. */
  failed_attempts: r.integer,
  last_response: r.nullable(r.text),
  /** Number of messages waiting for their first attempt. */
  waiting: r.integer,
  /** Number of messages waiting for a retry. */
  retrying: r.integer,
  oldest_waiting_at: r.nullable(r.time),
  /** `Failing: the last 5 attempts failed` */
  text: r.text,
})
export type ChannelProblem = v.InferOutput<typeof ChannelProblem>

/** A single message that fails twice and then arrives is not a problem. */
const MIN_FAILED_ATTEMPTS = 3
const MAX_WAIT_MS = 5 * MINUTE
/** Limits the attempts to read, newest first, across all channels. */
const MAX_EXAMINED_ATTEMPTS = 200

/** Finds channels whose last attempts failed, or whose oldest message has waited too long. Covers all processes. */
export async function readChannelProblems(database: Database, now: number): Promise<ChannelProblem[]> {
  const attempts = await newestAttempts(database)
  const waiting = await waitingMessages(database)
  return distinctChannels([...attempts, ...waiting]).flatMap((channelRow) => {
    const isSameChannel = (row: ChannelRow) => belongToSameChannel(row, channelRow)
    const failures = countConsecutiveFailures(attempts.filter(isSameChannel))
    const queues = waiting.filter(isSameChannel)
    const oldest = queues.length > 0 ? Math.min(...queues.map((queue) => queue.oldest)) : null
    const text = problemText(failures.count, oldest === null ? 0 : now - oldest)
    if (text === null) return []
    const { channel, application_name } = channelRow
    return [
      {
        ...{ channel, application_name, text },
        failed_attempts: failures.count,
        last_response: failures.last_response,
        waiting: queues.reduce((sum, { count, attempted }) => sum + count - attempted, 0),
        retrying: queues.reduce((sum, { attempted }) => sum + attempted, 0),
        oldest_waiting_at: isoTime(oldest),
      },
    ]
  })
}

/** Describes a problem and its solution. */
export function channelProblemText({
  channel,
  application_name,
  text,
  last_response,
  waiting,
  retrying,
}: ChannelProblem): string {
  const owner = application_name === null ? '' : ` of ${application_name}`
  const response = last_response === null ? '' : ` Last response: ${last_response.replace(/\.$/, '')}.`
  return `Channel ${channel}${owner}: ${text}.${response} Messages: ${waiting} waiting, ${retrying} retrying. Check the receiver and the options of the channel, then run  npx faultboard notify --test ${channel}`
}

function problemText(failedAttempts: number, waitMs: number): string | null {
  if (failedAttempts >= MIN_FAILED_ATTEMPTS) return `Failing: the last ${failedAttempts} attempts failed`
  if (waitMs > MAX_WAIT_MS) return `Delayed: the oldest message has waited ${Math.floor(waitMs / MINUTE)} minutes`
  return null
}

interface ChannelRow {
  channel: string
  application_id: number | null
  application_name: string | null
}

/**
 * Matches rows of the same channel and application. A test before the first error has no application and matches every
 * application.
 */
function belongToSameChannel(a: ChannelRow, b: ChannelRow): boolean {
  return a.channel === b.channel && (!hasApplication(a) || !hasApplication(b) || a.application_id === b.application_id)
}

/**
 * Returns one row per channel and application. Processes rows without an application last, so that such rows add no
 * duplicates.
 */
function distinctChannels(rows: readonly ChannelRow[]): ChannelRow[] {
  const found: ChannelRow[] = []
  for (const row of [...rows.filter(hasApplication), ...rows]) {
    if (!found.some((other) => belongToSameChannel(other, row))) found.push(row)
  }
  return found
}

function hasApplication({ application_id }: ChannelRow): boolean {
  return application_id !== null
}

interface AttemptRow extends ChannelRow {
  state: string
  attempts: number
  last_response: string | null
  created_at: number
  attempted_at: number | null
}

async function newestAttempts({ read }: Database): Promise<AttemptRow[]> {
  return read
    .selectFrom('faultboard_deliveries as d')
    .leftJoin('faultboard_applications as a', 'a.id', 'd.application_id')
    .select(['d.channel', 'd.application_id', 'a.name as application_name', 'd.state', 'd.attempts'])
    .select(['d.last_response', 'd.created_at', 'd.attempted_at'])
    .where('d.attempted_at', 'is not', null)
    .orderBy('d.attempted_at', 'desc')
    .limit(MAX_EXAMINED_ATTEMPTS)
    .execute()
}

/** Counts failed attempts since the last success of a channel. `rows` are sorted by their last attempt, newest first. */
function countConsecutiveFailures(rows: readonly AttemptRow[]): { count: number; last_response: string | null } {
  const success = rows.find(({ state }) => state === 'sent')
  const lastSuccess = success?.attempted_at ?? Number.NEGATIVE_INFINITY
  const failures = success ? rows.slice(0, rows.indexOf(success)) : rows
  const counts = failures.map(({ state, attempts, created_at }) =>
    // Earlier attempts of an older message may precede the success. A claimed message counts an unfinished attempt.
    created_at > lastSuccess ? Math.max(1, state === 'sending' ? attempts - 1 : attempts) : 1,
  )
  return {
    count: counts.reduce((sum, count) => sum + count, 0),
    last_response: failures[0]?.last_response ?? null,
  }
}

interface QueueRow {
  count: number
  /** Number of messages with a failed attempt. */
  attempted: number
  oldest: number
}

/** Counts waiting messages per channel. Excludes summaries, which may wait for the end of quiet hours. */
async function waitingMessages({ read }: Database): Promise<(ChannelRow & QueueRow)[]> {
  const rows = await read
    .selectFrom('faultboard_deliveries as d')
    .leftJoin('faultboard_applications as a', 'a.id', 'd.application_id')
    .select(({ fn }) => [
      'd.channel',
      'd.application_id',
      'a.name as application_name',
      fn.countAll<number>().as('count'),
      sql<number>`sum(case when ${sql.ref('d.attempts')} > 0 then 1 else 0 end)`.as('attempted'),
      fn.min<number>('d.created_at').as('oldest'),
    ])
    .where('d.state', '=', 'pending')
    .where('d.event', '!=', 'held')
    .groupBy(['d.channel', 'd.application_id', 'a.name'])
    .execute()
  return rows.map((row) => ({
    ...row,
    count: Number(row.count),
    attempted: Number(row.attempted),
    oldest: Number(row.oldest),
  }))
}

/** How long a result is shared. Every page of the dashboard shows it. */
const FRESH_MS = 10_000

interface CacheEntry {
  problems: Promise<ChannelProblem[]>
  /** Monotonic time, independent of the tracker's clock. */
  readAt: number
}

const cache = new WeakMap<Database, CacheEntry>()

/** Caches `readChannelProblems` for ten seconds. */
export function cachedChannelProblems({ database, now }: Pick<Context, 'database' | 'now'>): Promise<ChannelProblem[]> {
  const cached = cache.get(database)
  if (cached && performance.now() - cached.readAt < FRESH_MS) return cached.problems
  const problems = readChannelProblems(database, now())
  cache.set(database, { problems, readAt: performance.now() })
  // The next request queries again.
  problems.catch(() => cache.delete(database))
  return problems
}
