import * as v from 'valibot'
import type { Context } from '../../context.js'
import { id, optional } from '../../model/input.js'
import { DAY, dayOf, HOUR, hourOf, lastDays } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { errorWithin } from './find-error.js'

/** How often an error came, when and where from; every number counts occurrences, kept or not. */
export interface ErrorHistory {
  /** The last 24 hours, oldest first. */
  hours: { starts_at: string; count: number }[]
  /** The last 30 days in the configured zone, oldest first. */
  days: { day: string; starts_at: string; count: number }[]
  /** Of the 30 days before it was last seen, most frequent first. */
  app_versions: { app_version: string | null; count: number }[]
  platforms: { platform: string; count: number }[]
}

const HOURS = 24
const DAYS = 30
const TOP = 10

/** The histogram of one error, and its share by version and platform. */
export const errorHistory = defineOperation({
  input: v.object({ error_id: id(), application_id: optional(id()) }),
  async run(context, input): Promise<ErrorHistory> {
    const { id: error_id, occurred_at } = await errorWithin(context, input)
    const now = context.now()
    const days = lastDays(DAYS, now, context.config.time_zone)
    const firstHour = hourOf(now) - (HOURS - 1) * HOUR
    const sums = await hourSums(context, error_id, Math.min(days[0] ?? now, firstHour))
    return {
      hours: Array.from({ length: HOURS }, (_, i) => {
        const hour = firstHour + i * HOUR
        return { starts_at: new Date(hour).toISOString(), count: sums.get(hour) ?? 0 }
      }),
      days: countsOfDays(days, sums, context.config.time_zone),
      ...(await shares(context, error_id, hourOf(occurred_at) - DAYS * DAY)),
    }
  },
})

function countsOfDays(starts: readonly number[], sums: ReadonlyMap<number, number>, zone: string) {
  const days = starts.map((start) => ({
    day: dayOf(start, zone),
    starts_at: new Date(start).toISOString(),
    count: 0,
  }))
  for (const [hour, count] of sums) {
    const day = days[starts.findLastIndex((start) => start <= hour)]
    if (day) day.count += count
  }
  return days
}

async function hourSums({ database }: Context, error_id: number, from: number): Promise<Map<number, number>> {
  const rows = await database.read
    .selectFrom('faultboard_error_hours')
    .select(({ fn }) => ['hour', fn.sum<number>('count').as('count')])
    .where('error_id', '=', error_id)
    .where('hour', '>=', from)
    .groupBy('hour')
    .execute()
  return new Map(rows.map(({ hour, count }) => [hour, count]))
}

async function shares({ database }: Context, error_id: number, from: number) {
  const rows = await database.read
    .selectFrom('faultboard_error_hours')
    .select(({ fn }) => ['platform', 'app_version', fn.sum<number>('count').as('count')])
    .where('error_id', '=', error_id)
    .where('hour', '>=', from)
    .groupBy(['platform', 'app_version'])
    .execute()
  return {
    app_versions: top(rows.map(({ app_version, count }) => [app_version, count])).map(([name, count]) => ({
      app_version: name || null,
      count,
    })),
    platforms: top(rows.map(({ platform, count }) => [platform, count])).map(([platform, count]) => ({
      platform,
      count,
    })),
  }
}

/** Sorted here, because names of equal counts sort differently on each database. */
function top(pairs: readonly (readonly [name: string, count: number])[]): [string, number][] {
  const sums = new Map<string, number>()
  for (const [name, count] of pairs) sums.set(name, (sums.get(name) ?? 0) + count)
  return [...sums].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, TOP)
}
