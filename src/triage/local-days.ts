import * as v from 'valibot'
import { facts } from '../model/describe-input.js'
import { DAY, HOUR, localDate, startOfDay } from '../model/time.js'

/** A day as `2026-03-09`. */
export const calendarDay = () =>
  v.pipe(
    v.string(DAY_SENTENCE),
    v.trim(),
    v.check((text) => isCalendarDay(text), DAY_SENTENCE),
    facts({ type: 'day' }),
  )

const DAY_SENTENCE = 'must be a day such as 2026-03-09'

function isCalendarDay(text: string): boolean {
  if (!/^(19[7-9]|2\d\d)\d-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** The half-open span of a local day. A day that a zone left out, as Samoa did when it crossed the date line, is empty. */
export function daySpan(day: string, zone: string): { from: number; to: number } {
  const noon = Date.parse(`${day}T12:00:00Z`)
  // Noon of Greenwich is another day at both ends of the world.
  const time = [noon, noon - DAY / 2, noon + DAY / 2].find((one) => dayOf(one, zone) === day)
  return time === undefined ? { from: noon, to: noon } : spanAround(time, zone)
}

/** The beginnings of the last local days, oldest first; the last one is today's. */
export function lastDays(days: number, now: number, zone: string): number[] {
  const starts = [startOfDay(now, zone)]
  while (starts.length < days) starts.unshift(startOfDay((starts[0] ?? now) - 12 * HOUR, zone))
  return starts
}

function spanAround(time: number, zone: string): { from: number; to: number } {
  const from = startOfDay(time, zone)
  // Past the end of the longest day, and before that of the shortest two.
  return { from, to: startOfDay(from + 36 * HOUR, zone) }
}

function dayOf(time: number, zone: string): string {
  const { year, month, day } = localDate(time, zone)
  const two = (part: number) => String(part).padStart(2, '0')
  return `${year}-${two(month)}-${two(day)}`
}
