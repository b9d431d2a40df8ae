import * as v from 'valibot'
import type { Context } from '../../context.js'
import { clampedInteger, id, optional } from '../../model/input.js'
import { DAY, firstHourFrom, HOUR, hourOf, localDate, startOfDay } from '../../model/time.js'
import { type RawBuilder, sql } from '../../store/kysely.js'

export const MAX_DAYS = 365

/** What every question over a period takes. */
export const periodInput = v.object({
  days: v.optional(optional(clampedInteger({ min: 1, max: MAX_DAYS }))),
  application_id: optional(id()),
})

/** So many local days, today included. The sums know whole hours, so a period does too. */
export interface Period {
  days: number
  /** The first hour, and the end of the hour that is running. */
  from: number
  to: number
  /** As many hours, so many days earlier; where the clocks were put forward between, it ends where the period begins. */
  before: Span
  /** The local dates in order, `YYYY-MM-DD`. */
  dates: string[]
  time_zone: string
}

export interface Span {
  from: number
  to: number
}

export function periodOf({ config, now }: Context, days: number): Period {
  const { time_zone } = config
  const { year, month, day } = localDate(now(), time_zone)
  const today = Date.UTC(year, month - 1, day)
  const dates = Array.from({ length: days }, (_, i) => isoDate(today - (days - 1 - i) * DAY))
  const from = firstHour(today - (days - 1) * DAY, time_zone)
  const to = Math.max(hourOf(now()), from) + HOUR
  const before = firstHour(today - (2 * days - 1) * DAY, time_zone)
  return { days, from, to, before: { from: before, to: Math.min(before + (to - from), from) }, dates, time_zone }
}

/** How many days have passed in the period so far; never nothing, so that it can be divided by. */
export function elapsedDays({ from, to }: Span): number {
  return (to - from) / DAY
}

/** The period as people and programs read it. */
export interface PeriodView {
  days: number
  from: string
  to: string
  time_zone: string
}

export function periodView({ days, from, time_zone }: Period, now: number): PeriodView {
  return { days, from: new Date(from).toISOString(), to: new Date(now).toISOString(), time_zone }
}

/** The local date of an hour as the database sees it: midnight of that date, as if it were in UTC. */
export function localDay(period: Span & { time_zone: string }): RawBuilder<number> {
  const time = localTime(period)
  return sql<number>`${time} - ${time} % ${DAY}`
}

export function isoDate(day: number): string {
  return new Date(day).toISOString().slice(0, 10)
}

export interface Week extends Span {
  /** The date of its Monday. */
  week: string
}

/** The local weeks that the period touches, oldest first. */
export function weeksOf({ dates, time_zone }: Period): Week[] {
  const first = Date.parse(dates[0] ?? '')
  const last = Date.parse(dates.at(-1) ?? '')
  // The first of January 1970 was a Thursday.
  const monday = first - ((first / DAY + 3) % 7) * DAY
  const weeks: Week[] = []
  for (let day = monday; day <= last; day += 7 * DAY) {
    weeks.push({ week: isoDate(day), from: midnight(day, time_zone), to: midnight(day + 7 * DAY, time_zone) })
  }
  return weeks
}

/** What the local clock shows at an hour. Where the clocks change within the span, each part has its own offset. */
function localTime({ from, to, time_zone }: Span & { time_zone: string }): RawBuilder<number> {
  const hour = sql.ref('hour')
  const [first, ...later] = offsets({ from, to }, time_zone)
  if (later.length === 0) return sql<number>`(${hour} + ${first?.offset ?? 0})`
  // As text: PostgreSQL takes a parameter after `then` for text.
  const cases = later.reverse().map((part) => sql`when ${hour} >= ${part.from} then ${sql.lit(part.offset)}`)
  return sql<number>`(${hour} + case ${sql.join(cases, sql` `)} else ${sql.lit(first?.offset ?? 0)} end)`
}

/** The same for hours that have been read already: what is added to each. */
export function localOffsets({ from, to, time_zone }: Span & { time_zone: string }): (hour: number) => number {
  const parts = offsets({ from, to }, time_zone).reverse()
  return (hour) => (parts.find((part) => hour >= part.from) ?? parts.at(-1))?.offset ?? 0
}

interface OffsetPart {
  from: number
  offset: number
}

/** What is added to an hour to get what the local clock shows, from when on. */
function offsets({ from, to }: Span, zone: string): OffsetPart[] {
  const parts = [{ from, offset: offsetOf(from, zone) }]
  for (let hour = from; hour < to; hour += 7 * DAY) {
    const next = Math.min(hour + 7 * DAY, to)
    const offset = offsetOf(next, zone)
    if (offset !== parts.at(-1)?.offset) parts.push({ from: changeBetween(hour, next, zone), offset })
  }
  return parts
}

/** The first hour with the offset of the later one. */
function changeBetween(from: number, to: number, zone: string): number {
  const later = offsetOf(to, zone)
  let [before, after] = [from, to]
  while (after - before > HOUR) {
    const middle = before + hourOf((after - before) / 2)
    if (offsetOf(middle, zone) === later) after = middle
    else before = middle
  }
  return after
}

function offsetOf(time: number, zone: string): number {
  const { year, month, day, hour, minute, second } = localDate(time, zone)
  return Date.UTC(year, month - 1, day, hour, minute, second) - time
}

/** The first whole hour of a local date. */
function firstHour(date: number, zone: string): number {
  return firstHourFrom(midnight(date, zone))
}

/** The first instant of a local date; found from noon, because a day may lack its midnight but never its noon. */
function midnight(date: number, zone: string): number {
  const noon = date + DAY / 2
  return startOfDay(noon - offsetOf(noon, zone), zone)
}
