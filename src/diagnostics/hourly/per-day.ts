import { dayOf, lastDays } from '../../model/time.js'

export interface DayCount {
  day: string
  count: number
}

/** Adds hours up to local days, oldest first, days without any included. */
export class PerDay {
  readonly days: DayCount[]
  readonly #starts: readonly number[]

  constructor(days: number, now: number, time_zone: string) {
    this.#starts = lastDays(days, now, time_zone)
    this.days = this.#starts.map((start) => ({ day: dayOf(start, time_zone), count: 0 }))
  }

  add({ hour, count }: { hour: number; count: number }): void {
    const day = this.days[this.#starts.findLastIndex((start) => start <= hour)]
    if (day) day.count += count
  }
}
