import * as v from 'valibot'
import type { Context } from '../../context.js'
import { id, optional } from '../../model/input/input.js'
import * as r from '../../model/result.js'
import { DAY, HOUR, lastDays, localDay, startOfHour } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { packedRows } from '../../store/bulk/packed-rows.js'
import { requireError } from './find-error.js'

/** Occurrences of an error over time and by origin. Includes occurrences that are no longer stored. */
export const ErrorHistory = r.object({
  /** Last 24 hours, oldest first. */
  hours: r.list(r.object({ starts_at: r.time, count: r.integer })),
  /** Last 30 days in the configured time zone, oldest first. */
  days: r.list(r.object({ day: r.day, starts_at: r.time, count: r.integer })),
  /** Over the same 30 days, or those before an older error was last seen. Most frequent first. */
  app_versions: r.list(r.object({ app_version: r.nullable(r.text), count: r.integer })),
  platforms: r.list(r.object({ platform: r.text, count: r.integer })),
})
export type ErrorHistory = v.InferOutput<typeof ErrorHistory>

const SHOWN_HOURS = 24
const SHOWN_DAYS = 30
const MAX_SHARES = 10

/** Returns the histogram of one error and its shares by version and platform. */
export const errorHistory = defineOperation({
  input: v.object({ error_id: id(), application_id: optional(id()) }),
  async run(context, input): Promise<ErrorHistory> {
    const { id: error_id, occurred_at } = await requireError(context, input)
    return { ...(await loadHistogram(context, error_id)), ...(await loadShares(context, error_id, occurred_at)) }
  },
})

export async function loadHistogram(context: Context, error_id: number): Promise<Pick<ErrorHistory, 'hours' | 'days'>> {
  const now = context.now()
  const days = lastDays(SHOWN_DAYS, now, context.config.time_zone)
  const firstHour = startOfHour(now) - (SHOWN_HOURS - 1) * HOUR
  const sums = await loadHourSums(context, error_id, Math.min(days[0] ?? now, firstHour))
  return {
    hours: Array.from({ length: SHOWN_HOURS }, (_, i) => {
      const hour = firstHour + i * HOUR
      return { starts_at: new Date(hour).toISOString(), count: sums.get(hour) ?? 0 }
    }),
    days: countByDay(days, sums, context.config.time_zone),
  }
}

function countByDay(starts: readonly number[], sums: ReadonlyMap<number, number>, timeZone: string) {
  const days = starts.map((start) => ({
    day: localDay(start, timeZone),
    starts_at: new Date(start).toISOString(),
    count: 0,
  }))
  for (const [hour, count] of sums) {
    const day = days[starts.findLastIndex((start) => start <= hour)]
    if (day) day.count += count
  }
  return days
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

/** Sorted in code, because databases order names with equal counts differently. */
function topShares(pairs: readonly (readonly [name: string, count: number])[]): [string, number][] {
  const sums = new Map<string, number>()
  for (const [name, count] of pairs) sums.set(name, (sums.get(name) ?? 0) + count)
  return [...sums].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, MAX_SHARES)
}
