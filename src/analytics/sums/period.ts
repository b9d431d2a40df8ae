import * as v from 'valibot'
import type { Context } from '../../context.js'
import { clampedInteger, optional } from '../../model/input/input.js'
import { scopeInput } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { DAY, firstHourFrom, HOUR, localDateTime, startOfDay, startOfHour } from '../../model/time.js'

export const MAX_DAYS = 365

/** Input shared by all queries over a period. */
export const periodInput = v.object({
  days: v.optional(optional(clampedInteger({ min: 1, max: MAX_DAYS }))),
  ...scopeInput,
})

/** Number of local days including today. Aligned to hours like the sums. */
export interface Period {
  days: number
  /** First hour, and the end of the current hour. */
  from: number
  to: number
  /** Span of the same length before the period. Truncated if a daylight saving change would make both overlap. */
  before: Span
  /** Local dates in ascending order, `YYYY-MM-DD`. */
  dates: string[]
  time_zone: string
}

export interface Span {
  from: number
  to: number
}

export function lastDaysPeriod({ config, now }: Context, days: number): Period {
  const { time_zone } = config
  const { year, month, day } = localDateTime(now(), time_zone)
  const today = Date.UTC(year, month - 1, day)
  const dates = Array.from({ length: days }, (_, i) => isoDate(today - (days - 1 - i) * DAY))
  const from = firstHour(today - (days - 1) * DAY, time_zone)
  const to = Math.max(startOfHour(now()), from) + HOUR
  const before = firstHour(today - (2 * days - 1) * DAY, time_zone)
  return { days, from, to, before: { from: before, to: Math.min(before + (to - from), from) }, dates, time_zone }
}

/** Elapsed days of the period. Never zero, so that it can be a divisor. */
export function elapsedDays({ from, to }: Span): number {
  return (to - from) / DAY
}

/** Period for display and JSON. */
export const PeriodView = r.named(
  'Period',
  r.object({
    days: r.integer,
    from: r.time,
    to: r.time,
    time_zone: r.text,
  }),
)
export type PeriodView = v.InferOutput<typeof PeriodView>

export function periodView({ days, from, time_zone }: Period, now: number): PeriodView {
  return { days, from: new Date(from).toISOString(), to: new Date(now).toISOString(), time_zone }
}

export function isoDate(day: number): string {
  return new Date(day).toISOString().slice(0, 10)
}

export interface Week extends Span {
  /** Date of the week's Monday. */
  week: string
}

/** Local weeks that overlap the period, oldest first. */
export function localWeeks({ dates, time_zone }: Period): Week[] {
  const first = Date.parse(dates[0] ?? '')
  const last = Date.parse(dates.at(-1) ?? '')
  // January 1, 1970 was a Thursday.
  const monday = first - ((first / DAY + 3) % 7) * DAY
  const weeks: Week[] = []
  for (let day = monday; day <= last; day += 7 * DAY) {
    weeks.push({ week: isoDate(day), from: midnight(day, time_zone), to: midnight(day + 7 * DAY, time_zone) })
  }
  return weeks
}

/** Returns a function for the local offset of an hour. */
export function localOffsets({ from, to, time_zone }: Span & { time_zone: string }): (hour: number) => number {
  const parts = offsetParts({ from, to }, time_zone).reverse()
  return (hour) => (parts.find((part) => hour >= part.from) ?? parts.at(-1))?.offset ?? 0
}

interface OffsetPart {
  from: number
  offset: number
}

/** Offsets to local time, each with the hour from which it applies. */
export function offsetParts({ from, to }: Span, timeZone: string): OffsetPart[] {
  const parts = [{ from, offset: zoneOffset(from, timeZone) }]
  for (let hour = from; hour < to; hour += 7 * DAY) {
    const next = Math.min(hour + 7 * DAY, to)
    const offset = zoneOffset(next, timeZone)
    if (offset !== parts.at(-1)?.offset) parts.push({ from: findOffsetChange(hour, next, timeZone), offset })
  }
  return parts
}

/** First hour with the later offset, by binary search. */
function findOffsetChange(from: number, to: number, timeZone: string): number {
  const later = zoneOffset(to, timeZone)
  let [before, after] = [from, to]
  while (after - before > HOUR) {
    const middle = before + startOfHour((after - before) / 2)
    if (zoneOffset(middle, timeZone) === later) after = middle
    else before = middle
  }
  return after
}

function zoneOffset(time: number, timeZone: string): number {
  const { year, month, day, hour, minute, second } = localDateTime(time, timeZone)
  return Date.UTC(year, month - 1, day, hour, minute, second) - time
}

/** First full hour of a local date. */
function firstHour(date: number, timeZone: string): number {
  return firstHourFrom(midnight(date, timeZone))
}

/** First instant of a local date. Derived from noon, because daylight saving time can skip midnight but never noon. */
function midnight(date: number, timeZone: string): number {
  const noon = date + DAY / 2
  return startOfDay(noon - zoneOffset(noon, timeZone), timeZone)
}
