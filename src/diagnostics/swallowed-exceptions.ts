import type { Context } from '../context.js'
import { defineOperation } from '../operation.js'
import { sql } from '../store/kysely.js'
import { daysInput, firstHour } from './days.js'
import { type HourSlice, hourSlices } from './hour-slices.js'
import { type Support, swallowedExceptionsSupport } from './runtime-support.js'

export interface SwallowedExceptions {
  days: number
  threshold: number
  /** Whether exceptions can be counted on the runtime that answers. */
  runtime: Support
  /** The places whose ratio exceeds the threshold, those that swallow most first. */
  locations: SwallowingLocation[]
  /** How many places there are, should they be more than are listed. */
  total_count: number
}

export interface SwallowingLocation {
  error_type: string
  raise_location: string
  raise_count: number
  rescue_count: number
  /** Rescued and never reported, as a share of what was raised here. */
  rescue_ratio: number
  /** The last hour in which something was swallowed. */
  last_seen_at: string
  /** Where it was caught, most often first. */
  handlers: SwallowingHandler[]
}

export interface SwallowingHandler {
  rescue_location: string
  handler_kind: string
  rescue_count: number
}

export const LISTED_LOCATIONS = 200
const LISTED_HANDLERS = 20

/** Places in the code whose exceptions are caught and never reported. */
export const swallowedExceptions = defineOperation({
  input: daysInput,
  async run(context, { days, application_id }): Promise<SwallowedExceptions> {
    const { config, now } = context
    const places = new Map<string, Place>()
    for await (const slice of hourSlices(context, firstHour(days, now(), config.time_zone))) {
      for (const sum of await sumsWithin(context, slice, application_id)) add(places, sum)
    }
    const swallowing = [...places.values()]
      .filter((place) => exceeds(place, config.swallowed_exception_threshold))
      .sort(byImportance)
    return {
      days,
      threshold: config.swallowed_exception_threshold,
      runtime: swallowedExceptionsSupport(),
      locations: swallowing.slice(0, LISTED_LOCATIONS).map(locationOf),
      total_count: swallowing.length,
    }
  },
})

interface Sum {
  error_type: string
  raise_location: string
  rescue_location: string
  handler_kind: string
  raise_count: number
  rescue_count: number
  last_hour: number | null
}

async function sumsWithin(
  { database: { read } }: Context,
  { from, to }: HourSlice,
  application_id: number | undefined,
): Promise<Sum[]> {
  const rows = read.selectFrom('faultboard_swallowed_exceptions').where('hour', '>=', from).where('hour', '<', to)
  // The key begins with the application, so that naming all of them finds the hours by it.
  const wanted =
    application_id === undefined
      ? rows.where('application_id', 'in', read.selectFrom('faultboard_applications').select('id'))
      : rows.where('application_id', '=', application_id)
  return wanted
    .select(({ fn }) => [
      'error_type',
      'raise_location',
      'rescue_location',
      'handler_kind',
      fn.sum<number>('raise_count').as('raise_count'),
      fn.sum<number>('rescue_count').as('rescue_count'),
      sql<number | null>`max(case when faultboard_swallowed_exceptions.rescue_count > 0 then hour end)`.as('last_hour'),
    ])
    .groupBy(['error_type', 'raise_location', 'rescue_location', 'handler_kind'])
    .execute()
}

interface Place {
  error_type: string
  raise_location: string
  raise_count: number
  rescue_count: number
  last_hour: number
  handlers: Map<string, SwallowingHandler>
}

function add(places: Map<string, Place>, sum: Sum): void {
  const { error_type, raise_location, rescue_location, handler_kind } = sum
  const key = JSON.stringify([error_type, raise_location])
  let place = places.get(key)
  if (!place) {
    place = { error_type, raise_location, raise_count: 0, rescue_count: 0, last_hour: 0, handlers: new Map() }
    places.set(key, place)
  }
  place.raise_count += sum.raise_count
  place.rescue_count += sum.rescue_count
  place.last_hour = Math.max(place.last_hour, sum.last_hour ?? 0)
  if (sum.rescue_count === 0) return
  const handler = place.handlers.get(`${handler_kind} ${rescue_location}`)
  if (handler) handler.rescue_count += sum.rescue_count
  else {
    const first = { rescue_location, handler_kind, rescue_count: sum.rescue_count }
    place.handlers.set(`${handler_kind} ${rescue_location}`, first)
  }
}

/** What was raised at the end of the hour before and rescued in this one makes more rescues than raises. */
function ratioOf({ raise_count, rescue_count }: Place): number {
  return rescue_count === 0 ? 0 : Math.min(1, rescue_count / raise_count)
}

function exceeds(place: Place, threshold: number): boolean {
  return ratioOf(place) > threshold
}

function byImportance(a: Place, b: Place): number {
  const { raise_location: one } = a
  const { raise_location: other } = b
  return b.rescue_count - a.rescue_count || Number(one > other) - Number(one < other)
}

function locationOf(place: Place): SwallowingLocation {
  const { error_type, raise_location, raise_count, rescue_count, last_hour, handlers } = place
  return {
    error_type,
    raise_location,
    raise_count,
    rescue_count,
    rescue_ratio: ratioOf(place),
    last_seen_at: new Date(last_hour).toISOString(),
    handlers: [...handlers.values()].sort((a, b) => b.rescue_count - a.rescue_count).slice(0, LISTED_HANDLERS),
  }
}
