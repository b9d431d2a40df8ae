import { readOptions } from '../../config/options.js'
import type { Context } from '../../context.js'
import { defineOperation } from '../../operation.js'
import { sql } from '../../store/kysely.js'
import { daysInput } from '../hourly/days.js'
import { hourSlices, type Within } from '../hourly/hour-slices.js'
import { currentDetection } from './detection/detection.js'
import { type Support, swallowedExceptionsSupport } from './detection/support.js'
import { swallowedOptions } from './options.js'

export interface SwallowedExceptions {
  days: number
  threshold: number
  /** Whether exceptions can be counted on the runtime that answers. */
  runtime: Support
  /** Whether the process that answers counts its own; others may all the same. */
  is_counting: boolean
  /** How many files of it are watched. */
  watched_files: number
  /** Of all places, those that are not shown too. */
  totals: { places: number; raise_count: number; rescue_count: number; reported_count: number; vanished_count: number }
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
  reported_count: number
  /** Neither caught by the host's own code nor reported: by a return in `finally`, by `allSettled`, in a library. */
  vanished_count: number
  /** Rescued and never reported, as a share of what was raised here. */
  rescue_ratio: number
  /** When something was last swallowed, as near as the time between two flushes. */
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
    const { swallowed_exception_threshold: threshold } = readOptions(context.config, swallowedOptions)
    const places = new Map<string, Place>()
    for await (const within of hourSlices(context, { days, application_id })) {
      for (const sum of await sumsOf(context, within)) add(places, sum)
    }
    const detection = currentDetection()
    const swallowing = [...places.values()].filter((place) => exceeds(place, threshold)).sort(byImportance)
    return {
      days,
      threshold,
      runtime: swallowedExceptionsSupport(),
      is_counting: detection !== null,
      watched_files: detection?.files.size ?? 0,
      totals: totalsOf([...places.values()]),
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
  reported_count: number | null
  last_seen_at: number | null
}

function sumsOf({ database: { read } }: Context, within: Within): Promise<Sum[]> {
  return read
    .selectFrom('faultboard_swallowed_exceptions')
    .where(within)
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

interface Place {
  error_type: string
  raise_location: string
  raise_count: number
  rescue_count: number
  reported_count: number
  last_seen_at: number
  handlers: Map<string, SwallowingHandler>
}

function add(places: Map<string, Place>, sum: Sum): void {
  const { error_type, raise_location, rescue_location, handler_kind } = sum
  const key = JSON.stringify([error_type, raise_location])
  let place = places.get(key)
  if (!place) {
    const counts = { raise_count: 0, rescue_count: 0, reported_count: 0, last_seen_at: 0 }
    place = { error_type, raise_location, ...counts, handlers: new Map() }
    places.set(key, place)
  }
  place.raise_count += sum.raise_count
  place.rescue_count += sum.rescue_count
  place.reported_count += sum.reported_count ?? 0
  place.last_seen_at = Math.max(place.last_seen_at, sum.last_seen_at ?? 0)
  if (sum.rescue_count === 0) return
  const handler = place.handlers.get(`${handler_kind} ${rescue_location}`)
  if (handler) handler.rescue_count += sum.rescue_count
  else {
    const first = { rescue_location, handler_kind, rescue_count: sum.rescue_count }
    place.handlers.set(`${handler_kind} ${rescue_location}`, first)
  }
}

/** A process may have written what it rescued, and died before it wrote what was raised. */
function ratioOf({ raise_count, rescue_count }: Place): number {
  return rescue_count === 0 ? 0 : Math.min(1, rescue_count / raise_count)
}

/** What was taken up from disk may be the rest of something that is not here yet. */
function vanishedOf({ raise_count, rescue_count, reported_count }: Place): number {
  return Math.max(0, raise_count - rescue_count - reported_count)
}

function totalsOf(places: readonly Place[]): SwallowedExceptions['totals'] {
  const sum = (amount: (place: Place) => number) => places.reduce((all, place) => all + amount(place), 0)
  return {
    places: places.length,
    raise_count: sum((place) => place.raise_count),
    rescue_count: sum((place) => place.rescue_count),
    reported_count: sum((place) => place.reported_count),
    vanished_count: sum(vanishedOf),
  }
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
  const { error_type, raise_location, raise_count, rescue_count, reported_count, last_seen_at, handlers } = place
  return {
    error_type,
    raise_location,
    raise_count,
    rescue_count,
    reported_count,
    vanished_count: vanishedOf(place),
    rescue_ratio: ratioOf(place),
    last_seen_at: new Date(last_seen_at).toISOString(),
    handlers: [...handlers.values()].sort((a, b) => b.rescue_count - a.rescue_count).slice(0, LISTED_HANDLERS),
  }
}
