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

/**
 * The sums know whole hours. What the span begins with, which is part of an hour even for a day in a zone such as
 * Asia/Kolkata, is counted from the occurrences themselves.
 */
async function occurrencesSince(context: Context, application_id: number | undefined, from: number): Promise<number> {
  const { read } = context.database
  const firstHour = hourOf(from + HOUR - 1)
  const { count: whole } = await read
    .selectFrom('faultboard_application_hours')
    .select(({ fn }) => fn.sum<number>('count').as('count'))
    .where('hour', '>=', firstHour)
    .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
    .executeTakeFirstOrThrow()
  const { count: part } = await read
    .selectFrom('faultboard_occurrences')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('occurred_at', '>=', from)
    .where('occurred_at', '<', firstHour)
    .$if(application_id !== undefined, (query) =>
      query.where('error_id', 'in', errorsOf(context, application_id).select('id')),
    )
    .executeTakeFirstOrThrow()
  return Number(whole ?? 0) + Number(part)
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
