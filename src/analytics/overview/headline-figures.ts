import type { Context } from '../../context.js'
import { lastDays, startOfLastDays } from '../../model/time.js'
import { sql } from '../../store/kysely.js'
import { errorsOf } from '../sums/application-filter.js'

/** Errors that nobody has closed. */
export interface Backlog {
  count: number
  /** Within the last seven days. */
  opened: number
  closed: number
  /** How many were open at the end of each day, and now. */
  daily: number[]
}

/**
 * How the number of open errors came about, once it is known. An error was open from when it was first seen until it was
 * resolved; one that was reopened counts as never closed.
 */
export async function backlog(
  context: Context,
  { application_id, days }: { application_id: number | undefined; days: readonly number[] },
): Promise<(unresolved: number) => Backlog> {
  const week = startOfLastDays(7, context.now(), context.config.time_zone)
  const instants = [week, ...days.slice(1)]
  const [opened = 0, ...openedSince] = await countsSince(context, application_id, 'first_seen_at', instants)
  const [closed = 0, ...closedSince] = await countsSince(context, application_id, 'resolved_at', instants)
  return (count) => ({
    count,
    opened,
    closed,
    daily: [...openedSince.map((since, i) => count - since + (closedSince[i] ?? 0)), count],
  })
}

async function countsSince(
  context: Context,
  application_id: number | undefined,
  column: 'first_seen_at' | 'resolved_at',
  instants: readonly number[],
): Promise<number[]> {
  const since = (time: number) => sql<number>`sum(case when ${sql.ref(column)} >= ${time} then 1 else 0 end)`
  const counts = await context.database.read
    .selectFrom('faultboard_errors')
    .select(instants.map((time, i) => since(time).as(`since_${i}`)))
    .where(column, '>=', Math.min(...instants))
    .where(errorsOf(context, application_id))
    .executeTakeFirstOrThrow()
  return instants.map((_, i) => Number(counts[`since_${i}`] ?? 0))
}

export interface TimeToResolve {
  /** How many were resolved within 30 days, and how long that took; null where there were none. */
  count: number
  median_ms: number | null
  mean_ms: number | null
  /** The same of the 30 days before. */
  before: { count: number; median_ms: number | null; mean_ms: number | null }
  /** The mean of each of the last eight weeks, oldest first; 0 where nothing was resolved. */
  weekly_mean_ms: number[]
}

const WEEKS = 8

/** From when an error was first seen until it was resolved. */
export async function timeToResolve(context: Context, application_id: number | undefined): Promise<TimeToResolve> {
  const now = context.now()
  const { time_zone } = context.config
  const month = startOfLastDays(30, now, time_zone)
  return {
    ...(await resolvedWithin(context, application_id, { from: month, to: now + 1 })),
    before: await resolvedWithin(context, application_id, { from: startOfLastDays(60, now, time_zone), to: month }),
    weekly_mean_ms: await weeklyMeans(context, application_id),
  }
}

interface Span {
  from: number
  to: number
}

const TOOK = sql<number>`${sql.ref('resolved_at')} - ${sql.ref('first_seen_at')}`

async function resolvedWithin(context: Context, application_id: number | undefined, { from, to }: Span) {
  const resolved = context.database.read
    .selectFrom('faultboard_errors')
    .where('resolved_at', '>=', from)
    .where('resolved_at', '<', to)
    .where(errorsOf(context, application_id))
  const { count, total } = await resolved
    .select(({ fn }) => [fn.countAll<number>().as('count'), sql<number | null>`sum(${TOOK})`.as('total')])
    .executeTakeFirstOrThrow()
  if (count === 0) return { count, median_ms: null, mean_ms: null }
  const middle = await resolved
    .select(TOOK.as('took'))
    .orderBy('took')
    .limit(2 - (count % 2))
    .offset(Math.floor((count - 1) / 2))
    .execute()
  const median = middle.reduce((sum, { took }) => sum + Number(took), 0) / Math.max(1, middle.length)
  return { count, median_ms: Math.round(median), mean_ms: Math.round(Number(total ?? 0) / count) }
}

async function weeklyMeans(context: Context, application_id: number | undefined): Promise<number[]> {
  const days = lastDays(7 * WEEKS, context.now(), context.config.time_zone)
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
      sql<number>`sum(${TOOK})`.as('total'),
    ])
    .where('resolved_at', '>=', starts[0] ?? 0)
    .where(errorsOf(context, application_id))
    .groupBy('week')
    .execute()
  const means = new Array<number>(WEEKS).fill(0)
  for (const { week, count, total } of rows) means[Number(week)] = Math.round(Number(total) / count)
  return means
}
