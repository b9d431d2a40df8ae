import type * as v from 'valibot'
import * as r from '../../model/result.js'
import { lastDays, localDay } from '../../model/time.js'

export const DayCount = r.object({
  day: r.day,
  count: r.integer,
})
export type DayCount = v.InferOutput<typeof DayCount>

/** Sums hours into local days, oldest first, including days without counts. */
export class DayTotals {
  readonly days: DayCount[]
  readonly #starts: readonly number[]

  constructor(days: number, now: number, timeZone: string) {
    this.#starts = lastDays(days, now, timeZone)
    this.days = this.#starts.map((start) => ({ day: localDay(start, timeZone), count: 0 }))
  }

  add({ hour, count }: { hour: number; count: number }): void {
    const day = this.days[this.#starts.findLastIndex((start) => start <= hour)]
    if (day) day.count += count
  }
}
