import type * as v from 'valibot'
import { readOptions } from '../../config/options.js'
import type { Context } from '../../context.js'
import * as r from '../../model/result.js'
import { defineOperation } from '../../operation.js'
import { sql } from '../../store/kysely.js'
import { daysInput } from '../hourly/days.js'
import { type HourCondition, hourSlices } from '../hourly/hour-slices.js'
import { currentDetection, Support, swallowedExceptionsSupport } from './detection/detection.js'
import { swallowedOptions } from './options.js'

export const SwallowingHandler = r.object({
  rescue_location: r.text,
  handler_kind: r.text,
  rescue_count: r.integer,
})
export type SwallowingHandler = v.InferOutput<typeof SwallowingHandler>

export const SwallowingLocation = r.object({
  error_type: r.text,
  raise_location: r.text,
  raise_count: r.integer,
  rescue_count: r.integer,
  reported_count: r.integer,
  /** Neither caught by the host's code nor reported: lost to a `return` in `finally`, `allSettled` or a library. */
  unaccounted_count: r.integer,
  /** Share of the raised errors that were rescued and never reported. */
  rescue_ratio: r.number,
  /** Time of the last rescue, accurate to one flush interval. */
  last_seen_at: r.time,
  /** Handlers by number of rescues, most first. */
  handlers: r.list(SwallowingHandler),
})
export type SwallowingLocation = v.InferOutput<typeof SwallowingLocation>

export const SwallowedExceptions = r.object({
  days: r.integer,
  threshold: r.number,
  /** Support for counting exceptions in the runtime of this process. */
  runtime: Support,
  /** True if this process counts its exceptions. The counts include other processes. */
  is_counting: r.boolean,
  /** Number of marked files in this process. */
  watched_files: r.integer,
  /** Sums over all raise locations, including unlisted locations. */
  totals: r.object({
    locations: r.integer,
    raise_count: r.integer,
    rescue_count: r.integer,
    reported_count: r.integer,
    unaccounted_count: r.integer,
  }),
  /** Locations whose ratio exceeds the threshold, most rescues first. */
  locations: r.list(SwallowingLocation),
  /** Number of locations above the threshold, including unlisted locations. */
  total_count: r.integer,
})
export type SwallowedExceptions = v.InferOutput<typeof SwallowedExceptions>

export const MAX_LOCATIONS = 200
const MAX_HANDLERS = 20

/** Lists code locations whose exceptions are caught and never reported. */
export const swallowedExceptions = defineOperation({
  input: daysInput,
  async run(context, { days, application_id, environment }): Promise<SwallowedExceptions> {
    const { swallowed_exception_threshold: threshold } = readOptions(context.config, swallowedOptions)
    const locations = new Map<string, RaiseLocation>()
    for await (const condition of hourSlices(context, { days, application_id, environment })) {
      for (const sum of await readSums(context, condition)) addSum(locations, sum)
    }
    const detection = currentDetection()
    const swallowing = [...locations.values()]
      .filter((location) => exceedsThreshold(location, threshold))
      .sort(byRescues)
    return {
      days,
      threshold,
      runtime: swallowedExceptionsSupport(),
      is_counting: detection !== null,
      watched_files: detection?.files.size ?? 0,
      totals: sumTotals([...locations.values()]),
      locations: swallowing.slice(0, MAX_LOCATIONS).map(describeLocation),
      total_count: swallowing.length,
    }
  },
})

interface LocationSum {
  error_type: string
  raise_location: string
  rescue_location: string
  handler_kind: string
  raise_count: number
  rescue_count: number
  reported_count: number | null
  last_seen_at: number | null
}

function readSums({ database: { read } }: Context, condition: HourCondition): Promise<LocationSum[]> {
  return read
    .selectFrom('faultboard_swallowed_exceptions')
    .where(condition)
    .select(({ fn }) => [
      'error_type',
      'raise_location',
      'rescue_location',
      'handler_kind',
      fn.sum<number>('raise_count').as('raise_count'),
      fn.sum<number>('rescue_count').as('rescue_count'),
      fn.sum<number | null>('reported_count').as('reported_count'),
      sql<number | null>`max(case when faultboard_swallowed_exceptions.rescue_count > 0
        then coalesce(faultboard_swallowed_exceptions.last_seen_at, hour) end)`.as('last_seen_at'),
    ])
    .groupBy(['error_type', 'raise_location', 'rescue_location', 'handler_kind'])
    .execute()
}

interface RaiseLocation {
  error_type: string
  raise_location: string
  raise_count: number
  rescue_count: number
  reported_count: number
  last_seen_at: number
  handlers: Map<string, SwallowingHandler>
}

function addSum(locations: Map<string, RaiseLocation>, sum: LocationSum): void {
  const { error_type, raise_location, rescue_location, handler_kind } = sum
  const key = JSON.stringify([error_type, raise_location])
  let location = locations.get(key)
  if (!location) {
    const counts = { raise_count: 0, rescue_count: 0, reported_count: 0, last_seen_at: 0 }
    location = { error_type, raise_location, ...counts, handlers: new Map() }
    locations.set(key, location)
  }
  location.raise_count += sum.raise_count
  location.rescue_count += sum.rescue_count
  location.reported_count += sum.reported_count ?? 0
  location.last_seen_at = Math.max(location.last_seen_at, sum.last_seen_at ?? 0)
  if (sum.rescue_count === 0) return
  const handler = location.handlers.get(`${handler_kind} ${rescue_location}`)
  if (handler) handler.rescue_count += sum.rescue_count
  else {
    const first = { rescue_location, handler_kind, rescue_count: sum.rescue_count }
    location.handlers.set(`${handler_kind} ${rescue_location}`, first)
  }
}

/** At most 1, because a process can stop after storing rescues and before storing raises. */
function rescueRatio({ raise_count, rescue_count }: RaiseLocation): number {
  return rescue_count === 0 ? 0 : Math.min(1, rescue_count / raise_count)
}

/** At least 0, because rescues and reports from the spool folder can arrive before their raises. */
function unaccountedCount({ raise_count, rescue_count, reported_count }: RaiseLocation): number {
  return Math.max(0, raise_count - rescue_count - reported_count)
}

function sumTotals(locations: readonly RaiseLocation[]): SwallowedExceptions['totals'] {
  const sum = (count: (location: RaiseLocation) => number) =>
    locations.reduce((total, location) => total + count(location), 0)
  return {
    locations: locations.length,
    raise_count: sum((location) => location.raise_count),
    rescue_count: sum((location) => location.rescue_count),
    reported_count: sum((location) => location.reported_count),
    unaccounted_count: sum(unaccountedCount),
  }
}

function exceedsThreshold(location: RaiseLocation, threshold: number): boolean {
  return rescueRatio(location) > threshold
}

function byRescues(a: RaiseLocation, b: RaiseLocation): number {
  const [first, second] = [a.raise_location, b.raise_location]
  return b.rescue_count - a.rescue_count || Number(first > second) - Number(first < second)
}

function describeLocation(location: RaiseLocation): SwallowingLocation {
  const { error_type, raise_location, raise_count, rescue_count, reported_count, last_seen_at, handlers } = location
  return {
    error_type,
    raise_location,
    raise_count,
    rescue_count,
    reported_count,
    unaccounted_count: unaccountedCount(location),
    rescue_ratio: rescueRatio(location),
    last_seen_at: new Date(last_seen_at).toISOString(),
    handlers: [...handlers.values()].sort((a, b) => b.rescue_count - a.rescue_count).slice(0, MAX_HANDLERS),
  }
}
