import { DAY } from './time.js'

/** Start of the day in UTC, the key of daily rollups. */
export function startOfUtcDay(time: number): number {
  return time - (((time % DAY) + DAY) % DAY)
}
