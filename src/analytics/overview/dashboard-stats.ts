import * as v from 'valibot'
import type { Context } from '../../context.js'
import { id, optional } from '../../model/input.js'
import { startOfLastDays } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { errorsOf } from '../sums/application-filter.js'
import { sinceEach, sumsBetween } from '../sums/sums-between.js'

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
    const spans = spansOf(context)
    const cuts = Object.values(spans).sort((a, b) => a - b)
    const sums = await sumsBetween(context, { application_id, cuts, by: [] })
    const since = await sinceEach(context, { application_id, instants: cuts, cuts, sums })
    return {
      ...(await countsGiven(context, application_id, { spans, since })),
      ...(await rankedTotals(context, application_id)),
    }
  },
})

/** What of all time ranks types and platforms. */
export type RankedTotals = Pick<DashboardStats, 'top_errors' | 'errors_by_platform'>

export async function rankedTotals(context: Context, application_id: number | undefined): Promise<RankedTotals> {
  return {
    top_errors: await topErrors(context, application_id),
    errors_by_platform: await errorsByPlatform(context, application_id),
  }
}

/** How many there are, where the occurrences since the instants of the spans are known already. */
export async function countsGiven(
  context: Context,
  application_id: number | undefined,
  { spans, since }: { spans: Spans; since: ReadonlyMap<number, number> },
): Promise<Omit<DashboardStats, keyof RankedTotals>> {
  return {
    ...(await countRecords(context, application_id, spans)),
    occurrences_today: since.get(spans.today) ?? 0,
    occurrences_last_7_days: since.get(spans.week) ?? 0,
    occurrences_last_30_days: since.get(spans.month) ?? 0,
  }
}

export interface Spans {
  today: number
  week: number
  month: number
}

export function spansOf({ config, now }: Context): Spans {
  const since = (days: number) => startOfLastDays(days, now(), config.time_zone)
  return { today: since(1), week: since(7), month: since(30) }
}

async function countRecords(context: Context, application_id: number | undefined, { today, week, month }: Spans) {
  const { read } = context.database
  // Each found by the index of the time, which is far shorter than looking at every error for all three.
  const since = (from: number) =>
    read
      .selectFrom('faultboard_errors')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('occurred_at', '>=', from)
      .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
  const counts = await read
    .selectFrom('faultboard_errors')
    .where(errorsOf(context, application_id))
    .select(({ fn }) => [
      fn.countAll<number>().as('total'),
      fn.sum<number>('occurrence_count').as('occurrences'),
      fn.sum<number>('resolved').as('resolved'),
    ])
    .select([since(today).as('today'), since(week).as('week'), since(month).as('month')])
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

async function topErrors(context: Context, application_id: number | undefined) {
  const rows = await context.database.read
    .selectFrom('faultboard_errors')
    .where(errorsOf(context, application_id))
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
  const rows = await context.database.read
    .selectFrom('faultboard_errors')
    .where(errorsOf(context, application_id))
    .select(({ fn }) => ['platform', fn.countAll<number>().as('count')])
    .groupBy('platform')
    .orderBy('count', 'desc')
    .orderBy(({ fn }) => fn.min('id'))
    .execute()
  return Object.fromEntries(rows.map(({ platform, count }) => [platform, Number(count)]))
}
