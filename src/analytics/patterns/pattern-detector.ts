import * as v from 'valibot'
import type { Context } from '../../context.js'
import { clampedInteger, filterText, id, optional } from '../../model/input/input.js'
import { scopeInput } from '../../model/input/scope.js'
import { normalizePlatform } from '../../model/requests/platform.js'
import * as r from '../../model/result.js'
import { DAY, HOUR, MINUTE, startOfHour } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { assertErrorExists } from '../existing-error.js'
import { mean, standardDeviation } from '../statistics.js'
import { lastDaysPeriod, localOffsets, MAX_DAYS } from '../sums/period.js'
import { countsByHour, occurrenceTimes, type Subject } from '../sums/subject.js'

export const PATTERN_TYPES = ['business_hours', 'night', 'weekend', 'uniform'] as const
export type PatternType = (typeof PATTERN_TYPES)[number]

export const CyclicalPattern = r.object({
  pattern_type: r.oneOf(PATTERN_TYPES),
  /** Standard deviation of the 24 hours divided by their mean, at most 1. 0 means uniform. */
  pattern_strength: r.number,
  /** Hours with more than twice the mean. */
  peak_hours: r.list(r.integer),
  /** Occurrences by hour of the local day. */
  hourly_distribution: r.map(r.integer),
  /** Occurrences by weekday, starting on Monday. */
  weekday_distribution: r.list(r.integer),
  total: r.integer,
})
export type CyclicalPattern = v.InferOutput<typeof CyclicalPattern>

/** Stored occurrences in rapid succession. */
export const OccurrenceRun = r.object({
  started_at: r.time,
  ended_at: r.time,
  occurrence_count: r.integer,
  duration_seconds: r.number,
  /** Occurrences per minute. For a burst shorter than a minute, all of them. */
  per_minute: r.number,
})
export type OccurrenceRun = v.InferOutput<typeof OccurrenceRun>

export const Burst = r.object({
  ...OccurrenceRun.entries,
  /** True when `occurrence_count` is a lower bound, because fewer rows are stored than occurred. */
  is_lower_bound: r.boolean,
  /** All occurrences in the hours that the burst overlaps. */
  occurrences_in_hours: r.integer,
})
export type Burst = v.InferOutput<typeof Burst>

const PATTERN_DAYS = 30
const BURST_DAYS = 7
const MAX_BURST_GAP_MS = MINUTE
const MIN_BURST_OCCURRENCES = 5

const subjectInput = (days: number) =>
  v.object({
    error_id: optional(id()),
    error_type: filterText({ max: 255 }),
    // Normalizes the platform: reports from `ios` are stored as `iOS`.
    platform: v.pipe(
      filterText({ max: 64 }),
      v.transform((platform) => (platform === undefined ? undefined : normalizePlatform(platform))),
    ),
    days: v.optional(optional(clampedInteger({ min: 1, max: MAX_DAYS })), days),
    ...scopeInput,
  })

/** Detects the hours and weekdays at which an error or error type occurs. */
export const analyzeCyclicalPattern = defineOperation({
  input: subjectInput(PATTERN_DAYS),
  async run(context, { days = PATTERN_DAYS, application_id, environment, ...selected }): Promise<CyclicalPattern> {
    const subject = { ...selected, scope: { application_id, environment } }
    await assertSubjectExists(context, subject)
    return detectPattern(await countWeekHours(context, subject, days))
  },
})

/** Detects bursts: at least five occurrences with gaps of at most one minute. */
export const detectBursts = defineOperation({
  input: subjectInput(BURST_DAYS),
  async run(context, { days = BURST_DAYS, application_id, environment, ...selected }): Promise<Burst[]> {
    const subject = { ...selected, scope: { application_id, environment } }
    await assertSubjectExists(context, subject)
    const { from, to } = lastDaysPeriod(context, days)
    const times = await occurrenceTimes(context, subject, from)
    const bursts = findBursts(times)
    if (bursts.length === 0) return []
    return compareWithSums(bursts, times, await countsByHour(context, subject, { from: startOfHour(from), to }))
  },
})

async function assertSubjectExists(context: Context, { error_id, scope }: Subject): Promise<void> {
  if (error_id !== undefined) await assertErrorExists(context, error_id, scope)
}

/** Counts by weekday, starting on Monday, and hour. */
async function countWeekHours(context: Context, subject: Subject, days: number): Promise<number[][]> {
  const period = lastDaysPeriod(context, days)
  const week = Array.from({ length: 7 }, () => new Array<number>(24).fill(0))
  const offset = localOffsets(period)
  for (const [hour, count] of await countsByHour(context, subject, period)) {
    const local = hour + offset(hour)
    // January 1, 1970 was a Thursday.
    const day = week[(Math.floor(local / DAY) + 3) % 7]
    const hourOfDay = Math.floor((local % DAY) / HOUR)
    if (day) day[hourOfDay] = (day[hourOfDay] ?? 0) + count
  }
  return week
}

/** Minimum number of occurrences for a pattern. With only three occurrences, each would be a peak. */
export const MIN_PATTERN_OCCURRENCES = 10

export function detectPattern(week: readonly (readonly number[])[]): CyclicalPattern {
  const hours = sumByHour(week)
  const average = mean(hours) ?? 0
  const total = hours.reduce((sum, count) => sum + count, 0)
  const isEnough = total >= MIN_PATTERN_OCCURRENCES
  return {
    pattern_type: isEnough ? patternType(week, hours, total) : 'uniform',
    pattern_strength: isEnough ? Math.min(1, standardDeviation(hours) / average) : 0,
    peak_hours: isEnough ? findPeaks(hours) : [],
    hourly_distribution: Object.fromEntries(hours.map((count, hour) => [hour, count])),
    weekday_distribution: week.map((day) => day.reduce((sum, count) => sum + count, 0)),
    total,
  }
}

function patternType(week: readonly (readonly number[])[], hours: readonly number[], total: number): PatternType {
  const weekendCount = sumByHour(week.slice(5)).reduce((sum, count) => sum + count, 0)
  const isMostlyWeekend = weekendCount > total / 2
  const countWithin = (peaks: readonly number[], from: number, to: number) =>
    peaks.filter((hour) => hour >= from && hour <= to).length
  if (!isMostlyWeekend && countWithin(findPeaks(sumByHour(week.slice(0, 5))), 9, 17) >= 3) return 'business_hours'
  if (countWithin(findPeaks(hours), 0, 6) >= 2) return 'night'
  return isMostlyWeekend ? 'weekend' : 'uniform'
}

function sumByHour(days: readonly (readonly number[])[]): number[] {
  return Array.from({ length: 24 }, (_, hour) => days.reduce((sum, day) => sum + (day[hour] ?? 0), 0))
}

function findPeaks(hours: readonly number[]): number[] {
  const limit = 2 * (mean(hours) ?? 0)
  return hours.flatMap((count, hour) => (count > limit ? [hour] : []))
}

/** Finds runs of ascending times without a gap longer than one minute. Returns the newest burst first. */
export function findBursts(times: readonly number[]): OccurrenceRun[] {
  const bursts: OccurrenceRun[] = []
  for (let first = 0; first < times.length; ) {
    let last = first
    while (last + 1 < times.length && (times[last + 1] ?? 0) - (times[last] ?? 0) <= MAX_BURST_GAP_MS) last++
    const count = last - first + 1
    if (count >= MIN_BURST_OCCURRENCES) bursts.push(toBurst(times[first] ?? 0, times[last] ?? 0, count))
    first = last + 1
  }
  return bursts.reverse()
}

/** Compares bursts with the hourly sums, which are exact even if few occurrences are stored. */
export function compareWithSums<R extends OccurrenceRun>(
  bursts: readonly R[],
  times: readonly number[],
  sums: ReadonlyMap<number, number>,
): (R & Burst)[] {
  const storedByHour = new Map<number, number>()
  for (const time of times) storedByHour.set(startOfHour(time), (storedByHour.get(startOfHour(time)) ?? 0) + 1)
  return bursts.map((burst) => {
    let [occurrences_in_hours, rows] = [0, 0]
    for (let hour = startOfHour(Date.parse(burst.started_at)); hour <= Date.parse(burst.ended_at); hour += HOUR) {
      occurrences_in_hours += sums.get(hour) ?? 0
      rows += storedByHour.get(hour) ?? 0
    }
    return { ...burst, is_lower_bound: occurrences_in_hours > rows, occurrences_in_hours }
  })
}

function toBurst(from: number, to: number, occurrence_count: number): OccurrenceRun {
  return {
    started_at: new Date(from).toISOString(),
    ended_at: new Date(to).toISOString(),
    occurrence_count,
    duration_seconds: (to - from) / 1000,
    per_minute: occurrence_count / Math.max(1, (to - from) / MINUTE),
  }
}
