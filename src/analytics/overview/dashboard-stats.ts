import * as v from 'valibot'
import type { Context } from '../../context.js'
import { type Scope, scopeInput } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { startOfLastDays } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { errorsInScope } from '../sums/scope-conditions.js'
import { countSinceEach, sumsBetween } from '../sums/sums-between.js'

export const DashboardStats = r.object({
  total_errors: r.integer,
  errors_today: r.integer,
  errors_last_7_days: r.integer,
  errors_last_30_days: r.integer,
  resolved_count: r.integer,
  unresolved_count: r.integer,
  total_occurrences: r.integer,
  occurrences_today: r.integer,
  occurrences_last_7_days: r.integer,
  occurrences_last_30_days: r.integer,
  top_errors: r.list(r.object({ error_type: r.text, count: r.integer })),
  errors_by_platform: r.map(r.integer),
})
export type DashboardStats = v.InferOutput<typeof DashboardStats>

const MAX_TYPES = 10

/** Returns the numbers of the overview. `errors_…` count errors, `occurrences_…` count occurrences. */
export const dashboardStats = defineOperation({
  input: v.object(scopeInput),
  async run(context, { application_id, environment }): Promise<DashboardStats> {
    const spans = startTimes(context)
    const cuts = Object.values(spans).sort((a, b) => a - b)
    const scope = { application_id, environment }
    const sums = await sumsBetween(context, { ...scope, cuts, by: [] })
    const since = await countSinceEach(context, { scope, instants: cuts, cuts, sums })
    return {
      ...(await loadErrorTotals(context, scope, { spans, since })),
      ...(await loadRankedTotals(context, scope)),
    }
  },
})

/** Rankings of types and platforms over all time. */
export type RankedTotals = Pick<DashboardStats, 'top_errors' | 'errors_by_platform'>

export async function loadRankedTotals(context: Context, scope: Scope): Promise<RankedTotals> {
  return {
    top_errors: await loadTopErrors(context, scope),
    errors_by_platform: await countByPlatform(context, scope),
  }
}

/** Counts errors, given the occurrences since each start time. */
export async function loadErrorTotals(
  context: Context,
  scope: Scope,
  { spans, since }: { spans: StartTimes; since: ReadonlyMap<number, number> },
): Promise<Omit<DashboardStats, keyof RankedTotals>> {
  return {
    ...(await countErrors(context, scope, spans)),
    occurrences_today: since.get(spans.today) ?? 0,
    occurrences_last_7_days: since.get(spans.week) ?? 0,
    occurrences_last_30_days: since.get(spans.month) ?? 0,
  }
}

export interface StartTimes {
  today: number
  week: number
  month: number
}

export function startTimes({ config, now }: Context): StartTimes {
  const since = (days: number) => startOfLastDays(days, now(), config.time_zone)
  return { today: since(1), week: since(7), month: since(30) }
}

async function countErrors(context: Context, scope: Scope, { today, week, month }: StartTimes) {
  const { read } = context.database
  // Three lookups in the time index are far cheaper than one scan of all errors.
  const since = (from: number) =>
    read
      .selectFrom('faultboard_errors')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('occurred_at', '>=', from)
      .where(errorsInScope(context, scope, { usesIndex: true }))
  const counts = await read
    .selectFrom('faultboard_errors')
    .where(errorsInScope(context, scope))
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

async function loadTopErrors(context: Context, scope: Scope) {
  const rows = await context.database.read
    .selectFrom('faultboard_errors')
    .where(errorsInScope(context, scope))
    .select(({ fn }) => ['error_type', fn.sum<number>('occurrence_count').as('count')])
    .groupBy('error_type')
    .orderBy('count', 'desc')
    // On ties, the older type comes first. Names are not compared, because databases sort them differently.
    .orderBy(({ fn }) => fn.min('id'))
    .limit(MAX_TYPES)
    .execute()
  return rows.map(({ error_type, count }) => ({ error_type, count: Number(count) }))
}

async function countByPlatform(context: Context, scope: Scope) {
  const rows = await context.database.read
    .selectFrom('faultboard_errors')
    .where(errorsInScope(context, scope))
    .select(({ fn }) => ['platform', fn.countAll<number>().as('count')])
    .groupBy('platform')
    .orderBy('count', 'desc')
    .orderBy(({ fn }) => fn.min('id'))
    .execute()
  return Object.fromEntries(rows.map(({ platform, count }) => [platform, Number(count)]))
}
