import type * as v from 'valibot'
import type { Context } from '../../context.js'
import * as r from '../../model/result.js'
import { defineOperation } from '../../operation.js'
import { daysInput } from '../hourly/days.js'
import { type HourCondition, hourSlices, sumsPerHour } from '../hourly/hour-slices.js'
import { DayCount, DayTotals } from '../hourly/per-day.js'

export const DeprecationWarning = r.object({
  /** Code such as DEP0005, or empty. */
  code: r.text,
  message: r.text,
  count: r.integer,
  /** First and last occurrence within the period. */
  first_seen_at: r.time,
  last_seen_at: r.time,
  app_versions: r.list(r.text),
  places: r.list(r.object({ place: r.text, count: r.integer })),
})
export type DeprecationWarning = v.InferOutput<typeof DeprecationWarning>

export const DeprecationSummary = r.object({
  days: r.integer,
  /** Number of distinct warnings, including unlisted warnings. */
  total_count: r.integer,
  /** Warnings per local day, oldest first. */
  by_day: r.list(DayCount),
  /** Warnings by time of the last occurrence, newest first. */
  deprecations: r.list(DeprecationWarning),
})
export type DeprecationSummary = v.InferOutput<typeof DeprecationSummary>

export const MAX_DEPRECATIONS = 100
const MAX_PLACES = 10
const MAX_VERSIONS = 5
/** Rows per range of hours. SQLite splits long ranges, so its result can be incomplete above this limit. */
const MAX_ROWS = 2000

/** Lists deprecation warnings of Node.js, libraries and the host with their locations. */
export const deprecations = defineOperation({
  input: daysInput,
  async run(context, { days, application_id, environment }): Promise<DeprecationSummary> {
    const { config, now } = context
    const dayTotals = new DayTotals(days, now(), config.time_zone)
    const warnings = new Map<string, WarningTotals>()
    for await (const condition of hourSlices(context, { days, application_id, environment })) {
      for (const sum of await sumsPerHour(context, 'faultboard_deprecation_hours', 'count', condition))
        dayTotals.add(sum)
      for (const sum of await readSums(context, condition)) addSum(warnings, sum)
    }
    const sorted = [...warnings.values()].sort((a, b) => b.last_seen_at - a.last_seen_at || b.count - a.count)
    return {
      days,
      total_count: sorted.length,
      by_day: dayTotals.days,
      deprecations: sorted.slice(0, MAX_DEPRECATIONS).map(toWarning),
    }
  },
})

type WarningSum = Awaited<ReturnType<typeof readSums>>[number]

function readSums({ database: { read } }: Context, condition: HourCondition) {
  return read
    .selectFrom('faultboard_deprecation_hours')
    .where(condition)
    .select(({ fn }) => [
      'code',
      'message',
      'place',
      'app_version',
      fn.sum<number>('count').as('count'),
      fn.min<number>('first_seen_at').as('first_seen_at'),
      fn.max<number>('last_seen_at').as('last_seen_at'),
    ])
    .groupBy(['code', 'message', 'place', 'app_version'])
    .orderBy('last_seen_at', 'desc')
    .limit(MAX_ROWS)
    .execute()
}

interface WarningTotals {
  code: string
  message: string
  count: number
  first_seen_at: number
  last_seen_at: number
  /** Time of the last occurrence by version. */
  versions: Map<string, number>
  places: Map<string, number>
}

function addSum(warnings: Map<string, WarningTotals>, { code, message, place, app_version, ...sum }: WarningSum): void {
  const key = `${code}\0${message}`
  let warning = warnings.get(key)
  if (!warning) {
    warning = { code, message, ...sum, count: 0, versions: new Map(), places: new Map() }
    warnings.set(key, warning)
  }
  warning.count += sum.count
  warning.first_seen_at = Math.min(warning.first_seen_at, sum.first_seen_at)
  warning.last_seen_at = Math.max(warning.last_seen_at, sum.last_seen_at)
  warning.places.set(place, (warning.places.get(place) ?? 0) + sum.count)
  if (app_version) warning.versions.set(app_version, Math.max(warning.versions.get(app_version) ?? 0, sum.last_seen_at))
}

function toWarning({ versions, places, ...warning }: WarningTotals): DeprecationWarning {
  return {
    code: warning.code,
    message: warning.message,
    count: warning.count,
    first_seen_at: new Date(warning.first_seen_at).toISOString(),
    last_seen_at: new Date(warning.last_seen_at).toISOString(),
    app_versions: sortByValue(versions)
      .slice(0, MAX_VERSIONS)
      .map(([version]) => version),
    places: sortByValue(places)
      .slice(0, MAX_PLACES)
      .map(([place, count]) => ({ place, count })),
  }
}

function sortByValue(values: ReadonlyMap<string, number>): [string, number][] {
  return [...values].sort(([keyA, a], [keyB, b]) => b - a || (keyA < keyB ? -1 : 1))
}
