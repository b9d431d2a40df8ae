import * as v from 'valibot'
import { zoomInput } from '../../model/chart-span.js'
import { id, numberChoice, optional, withDefault } from '../../model/input/input.js'
import { firstHourFrom, startOfLastDays } from '../../model/time.js'

const DAYS = [7, 30, 90] as const

/** Input of the pages over hourly counts. */
export const daysInput = v.object({
  days: withDefault(numberChoice(DAYS), 30),
  application_id: optional(id()),
})

/** Parameters of these pages. The chart can be zoomed. */
export const daysPageInput = v.object({ ...daysInput.entries, ...zoomInput })

/** Returns the first hour of the last local days. */
export function firstHour(days: number, now: number, zone: string): number {
  return firstHourFrom(startOfLastDays(days, now, zone))
}
