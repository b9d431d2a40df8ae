import type { Context } from '../context.js'
import { localDate, startOfDay } from '../model/time.js'

let known: { zone: string; starts: readonly number[] } = { zone: '', starts: [] }

/** When each of the last local days began, oldest first, today last. */
export function lastDays({ config, now }: Context, count: number): number[] {
  const zone = config.time_zone
  const today = startOfDay(now(), zone)
  // A month of them takes milliseconds to find, and they stay the same until midnight.
  if (known.zone !== zone || known.starts.at(-1) !== today || known.starts.length < count) {
    const starts = [today]
    while (starts.length < count) starts.unshift(startOfDay((starts[0] ?? 0) - 1, zone))
    known = { zone, starts }
  }
  return known.starts.slice(-count)
}

/** The local date of an instant, `YYYY-MM-DD`. */
export function dateOf(time: number, zone: string): string {
  const { year, month, day } = localDate(time, zone)
  return new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10)
}
