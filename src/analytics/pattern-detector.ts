import * as v from 'valibot'
import type { Context } from '../context.js'
import { clampedInteger, filterText, id, optional } from '../model/input.js'
import { DAY, HOUR, MINUTE } from '../model/time.js'
import { defineOperation } from '../operation.js'
import { localWeekHour, MAX_DAYS, periodOf } from './period.js'
import { mean, standardDeviation } from './statistics.js'
import { occurrenceTimes, type Subject, subjectIds } from './subject.js'

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

export interface Burst {
  started_at: string
  ended_at: string
  occurrence_count: number
  duration_seconds: number
  /** Occurrences per minute; of a burst within one minute, all of them. */
  per_minute: number
}

const PATTERN_DAYS = 30
const BURST_DAYS = 7
const BURST_GAP = MINUTE
const BURST_LEAST = 5

const subjectInput = (days: number) =>
  v.object({
    error_id: optional(id()),
    error_type: filterText({ max: 255 }),
    platform: filterText({ max: 64 }),
    days: v.optional(optional(clampedInteger({ min: 1, max: MAX_DAYS })), days),
    application_id: optional(id()),
  })

/** At which hours and days errors of a type, or one error, occur. */
export const analyzeCyclicalPattern = defineOperation({
  input: subjectInput(PATTERN_DAYS),
  async run(context, { days = PATTERN_DAYS, ...subject }): Promise<CyclicalPattern> {
    return patternOf(await weekHours(context, subject, days))
  },
})

/** When they came one upon the other: gaps of at most a minute, at least five of them. */
export const detectBursts = defineOperation({
  input: subjectInput(BURST_DAYS),
  async run(context, { days = BURST_DAYS, ...subject }): Promise<Burst[]> {
    return burstsIn(await occurrenceTimes(context, subject, periodOf(context, days).from))
  },
})

/** Counts by day of the week, from Monday on, and hour. */
export async function weekHours(context: Context, subject: Subject, days: number): Promise<number[][]> {
  const period = periodOf(context, days)
  const week = Array.from({ length: 7 }, () => new Array<number>(24).fill(0))
  const ids = await subjectIds(context, subject)
  if (ids.length === 0) return week
  const rows = await context.database.read
    .selectFrom('faultboard_error_hours')
    .select(({ fn }) => [localWeekHour(period).as('week_hour'), fn.sum<number>('count').as('count')])
    .where('error_id', 'in', ids)
    .where('hour', '>=', period.from)
    .where('hour', '<', period.to)
    .$if(subject.platform !== undefined, (query) => query.where('platform', '=', subject.platform ?? ''))
    .groupBy('week_hour')
    .execute()
  for (const { week_hour, count } of rows) {
    // The hours of the week are counted from a Thursday.
    const day = week[(Math.floor(week_hour / DAY) + 3) % 7]
    const hour = (week_hour % DAY) / HOUR
    if (day) day[hour] = (day[hour] ?? 0) + count
  }
  return week
}

export function patternOf(week: readonly (readonly number[])[]): CyclicalPattern {
  const hours = sumOfDays(week)
  const average = mean(hours) ?? 0
  const total = hours.reduce((sum, count) => sum + count, 0)
  return {
    pattern_type: typeOf(week, hours, total),
    pattern_strength: average === 0 ? 0 : Math.min(1, standardDeviation(hours) / average),
    peak_hours: peaksOf(hours),
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
export function burstsIn(times: readonly number[]): Burst[] {
  const bursts: Burst[] = []
  for (let first = 0; first < times.length; ) {
    let last = first
    while (last + 1 < times.length && (times[last + 1] ?? 0) - (times[last] ?? 0) <= BURST_GAP) last++
    const count = last - first + 1
    if (count >= BURST_LEAST) bursts.push(burstOf(times[first] ?? 0, times[last] ?? 0, count))
    first = last + 1
  }
  return bursts.reverse()
}

function burstOf(from: number, to: number, occurrence_count: number): Burst {
  return {
    started_at: new Date(from).toISOString(),
    ended_at: new Date(to).toISOString(),
    occurrence_count,
    duration_seconds: (to - from) / 1000,
    per_minute: occurrence_count / Math.max(1, (to - from) / MINUTE),
  }
}
