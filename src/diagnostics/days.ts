import * as v from 'valibot'
import { id, numberChoice, optional, withDefault } from '../model/input.js'
import { DAY, HOUR, hourOf, startOfDay } from '../model/time.js'

export const DAYS = [7, 30, 90] as const

/** What the pages over stored sums take: how many days back, and whose. */
export const daysInput = v.object({
  days: withDefault(numberChoice(DAYS), 30),
  application_id: optional(id()),
})

/** The first instant of every local day of the span, oldest first; today is the last. */
export function localDays(days: number, now: number, zone: string): number[] {
  // Counted from noon: days are 23 or 25 hours long when the clocks change.
  const noon = startOfDay(now, zone) + 12 * HOUR
  return Array.from({ length: days }, (_, i) => startOfDay(noon - (days - 1 - i) * DAY, zone))
}

/** The sums know whole hours: one that midnight cuts belongs to the day in which it begins. */
export function firstHour(days: number, now: number, zone: string): number {
  return hourOf((localDays(days, now, zone)[0] ?? now) + HOUR - 1)
}
