import { DAY } from './time.js'

/** The first instant of the day in UTC, as the sums by day key it. */
export function utcDayOf(time: number): number {
  return time - (((time % DAY) + DAY) % DAY)
}
