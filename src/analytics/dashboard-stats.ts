import * as v from 'valibot'
import type { Context } from '../context.js'
import { id, optional } from '../model/input.js'
import { DAY, HOUR, hourOf, startOfDay } from '../model/time.js'
import { defineOperation } from '../operation.js'
import { sql } from '../store/kysely.js'

export interface DashboardStats {
  total_errors: number
  errors_today: number
  errors_last_7_days: number
  errors_last_30_days: number
  resolved_count: number
  unresolved_count: number
  total_occurrences: number
  occurrences_today: number
  occurrences_last_7_days: number
  occurrences_last_30_days: number
  top_errors: { error_type: string; count: number }[]
  errors_by_platform: Record<string, number>
}

const TOP = 10

/** The numbers of the overview. `errors_…` count records, `occurrences_…` count every event. */
export const dashboardStats = defineOperation({
  input: v.object({ application_id: optional(id()) }),
  async run(context, { application_id }): Promise<DashboardStats> {
    const now = context.now()
    const spans = {
      today: startOfDay(now, context.config.time_zone),
      week: now - 7 * DAY,
      month: now - 30 * DAY,
    }
    const records = await countRecords(context, application_id, spans)
    return {
      ...records,
      occurrences_today: await occurrencesSince(context, application_id, spans.today),
      occurrences_last_7_days: await occurrencesSince(context, application_id, spans.week),
      occurrences_last_30_days: await occurrencesSince(context, application_id, spans.month),
      top_errors: await topErrors(context, application_id),
      errors_by_platform: await errorsByPlatform(context, application_id),
    }
  },
})

interface Spans {
  today: number
  week: number
  month: number
}

async function countRecords(context: Context, application_id: number | undefined, { today, week, month }: Spans) {
  const since = (from: number) => sql<number>`sum(case when ${sql.ref('occurred_at')} >= ${from} then 1 else 0 end)`
  const counts = await errorsOf(context, application_id)
    .select(({ fn }) => [
      fn.countAll<number>().as('total'),
      fn.sum<number>('occurrence_count').as('occurrences'),
      fn.sum<number>('resolved').as('resolved'),
      since(today).as('today'),
      since(week).as('week'),
      since(month).as('month'),
    ])
    .executeTakeFirstOrThrow()
  const total_errors = Number(counts.total)
  const resolved_count = Number(counts.resolved ?? 0)
  return {
    total_errors,
    errors_today: Number(counts.today ?? 0),
    errors_last_7_days: Number(counts.week ?? 0),
    errors_last_30_days: Number(counts.month ?? 0),
    resolved_count,
    unresolved_count: total_errors - resolved_count,
    total_occurrences: Number(counts.occurrences ?? 0),
  }
}

async function occurrencesSince(context: Context, application_id: number | undefined, from: number): Promise<number> {
  const firstHour = hourOf(from + HOUR - 1)
  const { count } = await hoursOf(context, application_id).where('hour', '>=', firstHour).executeTakeFirstOrThrow()
  return (
    Number(count ?? 0) + (from === firstHour ? 0 : await occurrencesInPart(context, application_id, from, firstHour))
  )
}

/**
 * The sums know whole hours; a span may begin inside one, as every day does in a zone such as Asia/Kolkata. The share of
 * that hour is taken from its occurrence rows: exact while all of them are kept, and in proportion where they are not.
 */
async function occurrencesInPart(
  context: Context,
  application_id: number | undefined,
  from: number,
  to: number,
): Promise<number> {
  const hour = to - HOUR
  const { count } = await hoursOf(context, application_id).where('hour', '=', hour).executeTakeFirstOrThrow()
  const inHour = Number(count ?? 0)
  if (inHour === 0) return 0
  const rows = await context.database.read
    .selectFrom('faultboard_occurrences')
    .select(({ fn }) => [
      fn.countAll<number>().as('total'),
      sql<number>`sum(case when ${sql.ref('occurred_at')} >= ${from} then 1 else 0 end)`.as('count'),
    ])
    .where('occurred_at', '>=', hour)
    .where('occurred_at', '<', to)
    .$if(application_id !== undefined, (query) =>
      query.where('error_id', 'in', errorsOf(context, application_id).select('id')),
    )
    .executeTakeFirstOrThrow()
  const kept = Number(rows.total)
  const share = kept === 0 ? (to - from) / HOUR : Number(rows.count ?? 0) / kept
  return Math.round(inHour * share)
}

function hoursOf({ database }: Context, application_id: number | undefined) {
  const sums = database.read
    .selectFrom('faultboard_application_hours')
    .select(({ fn }) => fn.sum<number>('count').as('count'))
  return application_id === undefined ? sums : sums.where('application_id', '=', application_id)
}

async function topErrors(context: Context, application_id: number | undefined) {
  const rows = await errorsOf(context, application_id)
    .select(({ fn }) => ['error_type', fn.sum<number>('occurrence_count').as('count')])
    .groupBy('error_type')
    .orderBy('count', 'desc')
    // Of types that came equally often the one that was there first: names sort differently on each database.
    .orderBy(({ fn }) => fn.min('id'))
    .limit(TOP)
    .execute()
  return rows.map(({ error_type, count }) => ({ error_type, count: Number(count) }))
}

async function errorsByPlatform(context: Context, application_id: number | undefined) {
  const rows = await errorsOf(context, application_id)
    .select(({ fn }) => ['platform', fn.countAll<number>().as('count')])
    .groupBy('platform')
    .orderBy('count', 'desc')
    .orderBy(({ fn }) => fn.min('id'))
    .execute()
  return Object.fromEntries(rows.map(({ platform, count }) => [platform, Number(count)]))
}

function errorsOf({ database }: Context, application_id: number | undefined) {
  const errors = database.read.selectFrom('faultboard_errors')
  return application_id === undefined ? errors : errors.where('application_id', '=', application_id)
}
