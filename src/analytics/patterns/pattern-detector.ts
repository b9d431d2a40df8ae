import * as v from 'valibot'
import type { Context } from '../../context.js'
import { clampedInteger, filterText, id, optional } from '../../model/input.js'
import { normalizePlatform } from '../../model/requests/platform.js'
import { DAY, HOUR, hourOf, MINUTE } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { expectError } from '../existing-error.js'
import { mean, standardDeviation } from '../statistics.js'
import { localOffsets, MAX_DAYS, periodOf } from '../sums/period.js'
import { countsByHour, occurrenceTimes, type Subject } from '../sums/subject.js'

export const PATTERN_TYPES = ['business_hours', 'night', 'weekend', 'uniform'] as const
export type PatternType = (typeof PATTERN_TYPES)[number]

export interface CyclicalPattern {
  pattern_type: PatternType
  /** Standard deviation of the 24 hours over their mean, at most 1: 0 is the same at every hour. */
  pattern_strength: number
  /** Hours with more than twice the mean. */
  peak_hours: number[]
  /** Occurrences by hour of the local day. */
  hourly_distribution: Record<string, number>
  /** Occurrences by day of the week, from Monday on. */
  weekday_distribution: number[]
  total: number
}

/** Occurrences that came one upon the other, as far as they are kept. */
export interface Run {
  started_at: string
  ended_at: string
  occurrence_count: number
  duration_seconds: number
  /** Occurrences per minute; of a burst within one minute, all of them. */
  per_minute: number
}

export interface Burst extends Run {
  /** More occurred in the hours of the burst than rows are kept of: it had at least as many as are counted. */
  is_lower_bound: boolean
  /** All that occurred in the hours that the burst touches. */
  occurrences_in_hours: number
}

const PATTERN_DAYS = 30
const BURST_DAYS = 7
const BURST_GAP = MINUTE
const BURST_LEAST = 5

const subjectInput = (days: number) =>
  v.object({
    error_id: optional(id()),
    error_type: filterText({ max: 255 }),
    // A client that reports as `ios` is kept as iOS, and is looked for as either.
    platform: v.pipe(
      filterText({ max: 64 }),
      v.transform((platform) => (platform === undefined ? undefined : normalizePlatform(platform))),
    ),
    days: v.optional(optional(clampedInteger({ min: 1, max: MAX_DAYS })), days),
    application_id: optional(id()),
  })

/** At which hours and days errors of a type, or one error, occur. */
export const analyzeCyclicalPattern = defineOperation({
  input: subjectInput(PATTERN_DAYS),
  async run(context, { days = PATTERN_DAYS, ...subject }): Promise<CyclicalPattern> {
    await expectSubject(context, subject)
    return patternOf(await weekHours(context, subject, days))
  },
})

/** When they came one upon the other: gaps of at most a minute, at least five of them. */
export const detectBursts = defineOperation({
  input: subjectInput(BURST_DAYS),
  async run(context, { days = BURST_DAYS, ...subject }): Promise<Burst[]> {
    await expectSubject(context, subject)
    const { from, to } = periodOf(context, days)
    const times = await occurrenceTimes(context, subject, from)
    const bursts = burstsIn(times)
    if (bursts.length === 0) return []
    return againstSums(bursts, times, await countsByHour(context, subject, { from: hourOf(from), to }))
  },
})

async function expectSubject(context: Context, { error_id, application_id }: Subject): Promise<void> {
  if (error_id !== undefined) await expectError(context, { error_id, application_id })
}

/** Counts by day of the week, from Monday on, and hour. */
async function weekHours(context: Context, subject: Subject, days: number): Promise<number[][]> {
  const period = periodOf(context, days)
  const week = Array.from({ length: 7 }, () => new Array<number>(24).fill(0))
  const offset = localOffsets(period)
  for (const [hour, count] of await countsByHour(context, subject, period)) {
    const local = hour + offset(hour)
    // The first of January 1970 was a Thursday.
    const day = week[(Math.floor(local / DAY) + 3) % 7]
    const hour_of_day = Math.floor((local % DAY) / HOUR)
    if (day) day[hour_of_day] = (day[hour_of_day] ?? 0) + count
  }
  return week
}

/** Fewest occurrences with a pattern: three alone would always be three peaks. */
export const MIN_PATTERN_OCCURRENCES = 10

export function patternOf(week: readonly (readonly number[])[]): CyclicalPattern {
  const hours = sumOfDays(week)
  const average = mean(hours) ?? 0
  const total = hours.reduce((sum, count) => sum + count, 0)
  const isEnough = total >= MIN_PATTERN_OCCURRENCES
  return {
    pattern_type: isEnough ? typeOf(week, hours, total) : 'uniform',
    pattern_strength: isEnough ? Math.min(1, standardDeviation(hours) / average) : 0,
    peak_hours: isEnough ? peaksOf(hours) : [],
    hourly_distribution: Object.fromEntries(hours.map((count, hour) => [hour, count])),
    weekday_distribution: week.map((day) => day.reduce((sum, count) => sum + count, 0)),
    total,
  }
}

function typeOf(week: readonly (readonly number[])[], hours: readonly number[], total: number): PatternType {
  const onWeekend = sumOfDays(week.slice(5)).reduce((sum, count) => sum + count, 0)
  const mostlyWeekend = onWeekend > total / 2
  const within = (peaks: readonly number[], from: number, to: number) =>
    peaks.filter((hour) => hour >= from && hour <= to).length
  if (!mostlyWeekend && within(peaksOf(sumOfDays(week.slice(0, 5))), 9, 17) >= 3) return 'business_hours'
  if (within(peaksOf(hours), 0, 6) >= 2) return 'night'
  return mostlyWeekend ? 'weekend' : 'uniform'
}

function sumOfDays(days: readonly (readonly number[])[]): number[] {
  return Array.from({ length: 24 }, (_, hour) => days.reduce((sum, day) => sum + (day[hour] ?? 0), 0))
}

function peaksOf(hours: readonly number[]): number[] {
  const limit = 2 * (mean(hours) ?? 0)
  return hours.flatMap((count, hour) => (count > limit ? [hour] : []))
}

/** Runs of times, oldest first, in which no gap is longer than a minute; the newest burst comes first. */
export function burstsIn(times: readonly number[]): Run[] {
  const bursts: Run[] = []
  for (let first = 0; first < times.length; ) {
    let last = first
    while (last + 1 < times.length && (times[last + 1] ?? 0) - (times[last] ?? 0) <= BURST_GAP) last++
    const count = last - first + 1
    if (count >= BURST_LEAST) bursts.push(burstOf(times[first] ?? 0, times[last] ?? 0, count))
    first = last + 1
  }
  return bursts.reverse()
}

/** Holds bursts against the sums, which are exact however few occurrences are kept. */
export function againstSums<R extends Run>(
  bursts: readonly R[],
  times: readonly number[],
  sums: ReadonlyMap<number, number>,
): (R & Burst)[] {
  const kept = new Map<number, number>()
  for (const time of times) kept.set(hourOf(time), (kept.get(hourOf(time)) ?? 0) + 1)
  return bursts.map((burst) => {
    let [occurrences_in_hours, rows] = [0, 0]
    for (let hour = hourOf(Date.parse(burst.started_at)); hour <= Date.parse(burst.ended_at); hour += HOUR) {
      occurrences_in_hours += sums.get(hour) ?? 0
      rows += kept.get(hour) ?? 0
    }
    return { ...burst, is_lower_bound: occurrences_in_hours > rows, occurrences_in_hours }
  })
}

function burstOf(from: number, to: number, occurrence_count: number): Run {
  return {
    started_at: new Date(from).toISOString(),
    ended_at: new Date(to).toISOString(),
    occurrence_count,
    duration_seconds: (to - from) / 1000,
    per_minute: occurrence_count / Math.max(1, (to - from) / MINUTE),
  }
}
