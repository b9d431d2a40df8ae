import type { Context } from '../../context.js'
import { defineOperation } from '../../operation.js'
import { daysInput } from '../hourly/days.js'
import { hourSlices, sumsPerHour, type Within } from '../hourly/hour-slices.js'
import { type DayCount, PerDay } from '../hourly/per-day.js'

export interface DeprecationSummary {
  days: number
  /** Different warnings, should they be more than are listed. */
  total_count: number
  /** Warnings per local day, oldest first. */
  by_day: DayCount[]
  /** The newest first. */
  deprecations: DeprecationWarning[]
}

export interface DeprecationWarning {
  /** Such as DEP0005; empty where there is none. */
  code: string
  message: string
  count: number
  /** The first and the last one within the days. */
  first_seen_at: string
  last_seen_at: string
  app_versions: string[]
  places: { place: string; count: number }[]
}

export const LISTED_DEPRECATIONS = 100
const LISTED_PLACES = 10
const LISTED_VERSIONS = 5
/** Only what came last is kept of each slice; a server is asked for all in one, and is exact. */
const KEPT = 2000

/** What Node.js, libraries and the host call deprecated, and where it is used. */
export const deprecations = defineOperation({
  input: daysInput,
  async run(context, { days, application_id }): Promise<DeprecationSummary> {
    const { config, now } = context
    const per_day = new PerDay(days, now(), config.time_zone)
    const found = new Map<string, Found>()
    for await (const within of hourSlices(context, { days, application_id })) {
      for (const sum of await sumsPerHour(context, 'faultboard_deprecation_hours', 'count', within)) per_day.add(sum)
      for (const sum of await sumsOf(context, within)) add(found, sum)
    }
    const warnings = [...found.values()].sort((a, b) => b.last_seen_at - a.last_seen_at || b.count - a.count)
    return {
      days,
      total_count: warnings.length,
      by_day: per_day.days,
      deprecations: warnings.slice(0, LISTED_DEPRECATIONS).map(warningOf),
    }
  },
})

type Sum = Awaited<ReturnType<typeof sumsOf>>[number]

function sumsOf({ database: { read } }: Context, within: Within) {
  return read
    .selectFrom('faultboard_deprecation_hours')
    .where(within)
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
    .limit(KEPT)
    .execute()
}

interface Found {
  code: string
  message: string
  count: number
  first_seen_at: number
  last_seen_at: number
  /** When each was last seen. */
  versions: Map<string, number>
  places: Map<string, number>
}

function add(found: Map<string, Found>, { code, message, place, app_version, ...sum }: Sum): void {
  const key = `${code}\0${message}`
  let one = found.get(key)
  if (!one) {
    one = { code, message, ...sum, count: 0, versions: new Map(), places: new Map() }
    found.set(key, one)
  }
  one.count += sum.count
  one.first_seen_at = Math.min(one.first_seen_at, sum.first_seen_at)
  one.last_seen_at = Math.max(one.last_seen_at, sum.last_seen_at)
  one.places.set(place, (one.places.get(place) ?? 0) + sum.count)
  if (app_version) one.versions.set(app_version, Math.max(one.versions.get(app_version) ?? 0, sum.last_seen_at))
}

function warningOf({ versions, places, ...one }: Found): DeprecationWarning {
  return {
    code: one.code,
    message: one.message,
    count: one.count,
    first_seen_at: new Date(one.first_seen_at).toISOString(),
    last_seen_at: new Date(one.last_seen_at).toISOString(),
    app_versions: mostOf(versions)
      .slice(0, LISTED_VERSIONS)
      .map(([version]) => version),
    places: mostOf(places)
      .slice(0, LISTED_PLACES)
      .map(([place, count]) => ({ place, count })),
  }
}

function mostOf(values: ReadonlyMap<string, number>): [string, number][] {
  return [...values].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
}
