import * as v from 'valibot'
import { zoomInput } from '../../model/chart-span.js'
import { numberChoice, withDefault } from '../../model/input/input.js'
import { scopeInput, scopeKey } from '../../model/input/scope.js'
import { firstHourFrom, startOfLastDays } from '../../model/time.js'

const DAYS = [7, 30, 90] as const

/** Input of the pages over hourly counts. */
export const daysInput = v.object({
  days: withDefault(numberChoice(DAYS), 30),
  ...scopeInput,
})

/** Parameters of these pages. The chart can be zoomed. */
export const daysPageInput = v.object({ ...daysInput.entries, ...zoomInput })

export type DaysPageParameters = v.InferOutput<typeof daysPageInput>

/** Cache key of the counts of a page. */
export function daysKey(name: string, { days, application_id, environment }: DaysPageParameters): string {
  return `${name} ${days} ${scopeKey({ application_id, environment })}`
}

/** Returns the first hour of the last local days. */
export function firstHour(days: number, now: number, zone: string): number {
  return firstHourFrom(startOfLastDays(days, now, zone))
}
