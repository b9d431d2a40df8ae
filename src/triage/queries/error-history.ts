import * as v from 'valibot'
import type { Context } from '../../context.js'
import { type ChartSpan, chartSpan, chartSpanInput } from '../../model/chart-span.js'
import { id } from '../../model/input/input.js'
import { scopeInput } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { scaleToHours } from '../../model/scale-to-hours.js'
import { DAY, firstHourFrom, HOUR, lastDays, localDay, MINUTE, startOfHour } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { packedRows } from '../../store/bulk/packed-rows.js'
import { sql } from '../../store/kysely.js'
import { requireError } from './find-error.js'

/** Occurrences of an error over time and by origin. Includes occurrences that are no longer stored. */
export const ErrorHistory = r.object({
  /** Last 24 hours, oldest first. */
  hours: r.list(r.object({ starts_at: r.time, count: r.integer })),
  /** Last 30 days in the configured time zone, oldest first. */
  days: r.list(r.object({ day: r.day, starts_at: r.time, count: r.integer })),
  /** Bars of the selected period, oldest first: days, quarters of a day, hours or five minutes. */
  bars: r.list(r.object({ starts_at: r.time, count: r.integer })),
  /** Counts over the last 30 days, or over the 30 days before an older error was last seen. Most frequent first. */
  app_versions: r.list(r.object({ app_version: r.nullable(r.text), count: r.integer })),
  platforms: r.list(r.object({ platform: r.text, count: r.integer })),
})
export type ErrorHistory = v.InferOutput<typeof ErrorHistory>

const SHOWN_HOURS = 24
const SHOWN_DAYS = 30
const FIVE_MINUTES_MS = 5 * MINUTE
const MAX_SHARES = 10

/** Returns the histogram of one error and its shares by version and platform. */
export const errorHistory = defineOperation({
  input: v.object({ error_id: id(), ...scopeInput, ...chartSpanInput }),
  async run(context, { range, from, to, ...input }): Promise<ErrorHistory> {
    const { id: error_id, occurred_at } = await requireError(context, input)
    const span = chartSpan({ range, from, to }, context.now(), context.config.time_zone)
    return { ...(await loadHistogram(context, error_id, span)), ...(await loadShares(context, error_id, occurred_at)) }
  },
})

export async function loadHistogram(
  context: Context,
  error_id: number,
  span: ChartSpan,
): Promise<Pick<ErrorHistory, 'hours' | 'days' | 'bars'>> {
  const now = context.now()
  const days = lastDays(SHOWN_DAYS, now, context.config.time_zone)
  const firstHour = startOfHour(now) - (SHOWN_HOURS - 1) * HOUR
  const sums = await loadHourSums(context, error_id, Math.min(days[0] ?? now, firstHour, startOfHour(span.from)))
  const counts = span.step === 'five_minutes' ? await countFiveMinutes(context, error_id, span, sums) : sums
  return {
    hours: Array.from({ length: SHOWN_HOURS }, (_, i) => {
      const hour = firstHour + i * HOUR
      return { starts_at: new Date(hour).toISOString(), count: sums.get(hour) ?? 0 }
    }),
    days: countByStart(days, sums).map((count, i) => ({
      day: localDay(days[i] ?? 0, context.config.time_zone),
      starts_at: new Date(days[i] ?? 0).toISOString(),
      count,
    })),
    bars: countByStart(span.starts, counts, span.to).map((count, i) => ({
      starts_at: new Date(span.starts[i] ?? 0).toISOString(),
      count,
    })),
  }
}

/** Assigns each count to the last start before it. */
function countByStart(
  starts: readonly number[],
  counts: ReadonlyMap<number, number>,
  end = Number.POSITIVE_INFINITY,
): number[] {
  const totals = new Array<number>(starts.length).fill(0)
  for (const [time, count] of counts) {
    const index = starts.findLastIndex((start) => start <= time)
    if (index >= 0 && time < end) totals[index] = (totals[index] ?? 0) + count
  }
  return totals
}

/** Occurrences per five-minute interval, from stored occurrences scaled to the exact sums of the hours. */
async function countFiveMinutes(
  { database }: Context,
  error_id: number,
  { from, to }: ChartSpan,
  sums: ReadonlyMap<number, number>,
): Promise<Map<number, number>> {
  const start = sql<number>`${sql.ref('occurred_at')} - ${sql.ref('occurred_at')} % ${sql.lit(FIVE_MINUTES_MS)}`
  const rows = await database.read
    .selectFrom('faultboard_occurrences')
    .select(({ fn }) => [start.as('start'), fn.countAll<number>().as('count')])
    .where('error_id', '=', error_id)
    .where('occurred_at', '>=', startOfHour(from))
    .where('occurred_at', '<', firstHourFrom(to))
    .groupBy('start')
    .orderBy('start')
    .execute()
  const counts = rows.map((row) => ({ start: Number(row.start), count: Number(row.count) }))
  return new Map(scaleToHours(counts, sums).map((row) => [row.start, row.count]))
}

async function loadHourSums({ database }: Context, error_id: number, from: number): Promise<Map<number, number>> {
  const query = database.read
    .selectFrom('faultboard_error_hours')
    .select(({ fn }) => ['hour', fn.sum<number>('count').as('count')])
    .where('error_id', '=', error_id)
    .where('hour', '>=', from)
    .groupBy('hour')
  const rows = await packedRows(database, query, ['hour', 'count'])
  return new Map(rows.map(({ hour, count }) => [hour, count]))
}

/** `occurred_at` is the time when the error was last seen. */
export async function loadShares(
  { database, config, now }: Context,
  error_id: number,
  occurred_at: number,
): Promise<Pick<ErrorHistory, 'app_versions' | 'platforms'>> {
  const [firstDay = 0] = lastDays(SHOWN_DAYS, now(), config.time_zone)
  const from = occurred_at >= firstDay ? firstDay : startOfHour(occurred_at) - SHOWN_DAYS * DAY
  const rows = await database.read
    .selectFrom('faultboard_error_hours')
    .select(({ fn }) => ['platform', 'app_version', fn.sum<number>('count').as('count')])
    .where('error_id', '=', error_id)
    .where('hour', '>=', from)
    .groupBy(['platform', 'app_version'])
    .execute()
  return {
    app_versions: topShares(rows.map(({ app_version, count }) => [app_version, count])).map(([name, count]) => ({
      app_version: name || null,
      count,
    })),
    platforms: topShares(rows.map(({ platform, count }) => [platform, count])).map(([platform, count]) => ({
      platform,
      count,
    })),
  }
}

/** Sorts in code, because databases order names with equal counts differently. */
function topShares(pairs: readonly (readonly [name: string, count: number])[]): [string, number][] {
  const sums = new Map<string, number>()
  for (const [name, count] of pairs) sums.set(name, (sums.get(name) ?? 0) + count)
  return [...sums].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, MAX_SHARES)
}
