import * as v from 'valibot'
import { id, numberChoice, optional, withDefault } from '../../model/input.js'
import { firstHourFrom, startOfLastDays } from '../../model/time.js'

export const DAYS = [7, 30, 90] as const

/** What the pages over stored sums take: how many days back, and whose. */
export const daysInput = v.object({
  days: withDefault(numberChoice(DAYS), 30),
  application_id: optional(id()),
})

/** The first of the hours that the last local days are summed up from. */
export function firstHour(days: number, now: number, zone: string): number {
  return firstHourFrom(startOfLastDays(days, now, zone))
}
