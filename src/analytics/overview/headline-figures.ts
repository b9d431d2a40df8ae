import type * as v from 'valibot'
import type { Context } from '../../context.js'
import * as r from '../../model/result.js'
import { lastDays, startOfLastDays } from '../../model/time.js'
import { sql } from '../../store/kysely.js'
import { errorsOfApplication } from '../sums/application-filter.js'

/** Number of unresolved errors over time. */
export const Backlog = r.object({
  count: r.integer,
  /** Within the last seven days. */
  opened: r.integer,
  closed: r.integer,
  /** Open errors at the end of each day, and now. */
  daily: r.list(r.integer),
})
export type Backlog = v.InferOutput<typeof Backlog>

/**
 * Returns a function that derives the history from the current number of open errors. An error is open from its first
 * occurrence until it is resolved. A reopened error counts as never closed.
 */
export async function loadBacklog(
  context: Context,
  { application_id, days }: { application_id: number | undefined; days: readonly number[] },
): Promise<(unresolved: number) => Backlog> {
  const week = startOfLastDays(7, context.now(), context.config.time_zone)
  const instants = [week, ...days.slice(1)]
  const [opened = 0, ...openedSince] = await countSince(context, application_id, 'first_seen_at', instants)
  const [closed = 0, ...closedSince] = await countSince(context, application_id, 'resolved_at', instants)
  return (count) => ({
    count,
    opened,
    closed,
    daily: [...openedSince.map((since, i) => count - since + (closedSince[i] ?? 0)), count],
  })
}

async function countSince(
  context: Context,
  application_id: number | undefined,
  column: 'first_seen_at' | 'resolved_at',
  instants: readonly number[],
): Promise<number[]> {
  const countAfter = (time: number) => sql<number>`sum(case when ${sql.ref(column)} >= ${time} then 1 else 0 end)`
  const counts = await context.database.read
    .selectFrom('faultboard_errors')
    .select(instants.map((time, i) => countAfter(time).as(`since_${i}`)))
    .where(column, '>=', Math.min(...instants))
    .where(errorsOfApplication(context, application_id))
    .executeTakeFirstOrThrow()
  return instants.map((_, i) => Number(counts[`since_${i}`] ?? 0))
}

export const TimeToResolve = r.object({
  /** Number of errors resolved within 30 days. The durations are null if there are none. */
  count: r.integer,
  median_ms: r.nullable(r.number),
  mean_ms: r.nullable(r.number),
  /** Figures of the previous 30 days. */
  before: r.object({ count: r.integer, median_ms: r.nullable(r.number), mean_ms: r.nullable(r.number) }),
  /** Mean of each of the last eight weeks, oldest first; 0 for weeks without resolved errors. */
  weekly_mean_ms: r.list(r.number),
})
export type TimeToResolve = v.InferOutput<typeof TimeToResolve>

const SHOWN_WEEKS = 8

/** Time from the first occurrence of an error until it is resolved. */
export async function loadTimeToResolve(context: Context, application_id: number | undefined): Promise<TimeToResolve> {
  const now = context.now()
  const { time_zone } = context.config
  const month = startOfLastDays(30, now, time_zone)
  return {
    ...(await resolutionTimes(context, application_id, { from: month, to: now + 1 })),
    before: await resolutionTimes(context, application_id, { from: startOfLastDays(60, now, time_zone), to: month }),
    weekly_mean_ms: await loadWeeklyMeans(context, application_id),
  }
}

interface Span {
  from: number
  to: number
}

const RESOLUTION_TIME = sql<number>`${sql.ref('resolved_at')} - ${sql.ref('first_seen_at')}`

async function resolutionTimes(context: Context, application_id: number | undefined, { from, to }: Span) {
  const resolved = context.database.read
    .selectFrom('faultboard_errors')
    .where('resolved_at', '>=', from)
    .where('resolved_at', '<', to)
    .where(errorsOfApplication(context, application_id))
  const { count, total } = await resolved
    .select(({ fn }) => [fn.countAll<number>().as('count'), sql<number | null>`sum(${RESOLUTION_TIME})`.as('total')])
    .executeTakeFirstOrThrow()
  if (count === 0) return { count, median_ms: null, mean_ms: null }
  const middle = await resolved
    .select(RESOLUTION_TIME.as('duration_ms'))
    .orderBy('duration_ms')
    .limit(2 - (count % 2))
    .offset(Math.floor((count - 1) / 2))
    .execute()
  const median = middle.reduce((sum, { duration_ms }) => sum + Number(duration_ms), 0) / Math.max(1, middle.length)
  return { count, median_ms: Math.round(median), mean_ms: Math.round(Number(total ?? 0) / count) }
}

async function loadWeeklyMeans(context: Context, application_id: number | undefined): Promise<number[]> {
  const days = lastDays(7 * SHOWN_WEEKS, context.now(), context.config.time_zone)
  const starts = days.filter((_, i) => i % 7 === 0)
  const cases = starts
    .slice(1)
    .map((start, i) => sql`when ${sql.ref('resolved_at')} >= ${start} then ${sql.lit(i + 1)}`)
    .reverse()
  const rows = await context.database.read
    .selectFrom('faultboard_errors')
    .select(({ fn }) => [
      sql<number>`case ${sql.join(cases, sql` `)} else 0 end`.as('week'),
      fn.countAll<number>().as('count'),
      sql<number>`sum(${RESOLUTION_TIME})`.as('total'),
    ])
    .where('resolved_at', '>=', starts[0] ?? 0)
    .where(errorsOfApplication(context, application_id))
    .groupBy('week')
    .execute()
  const means = new Array<number>(SHOWN_WEEKS).fill(0)
  for (const { week, count, total } of rows) means[Number(week)] = Math.round(Number(total) / count)
  return means
}
