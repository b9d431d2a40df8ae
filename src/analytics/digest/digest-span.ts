import { DAY, localDate, startOfDay } from '../../model/time.js'
import type { Span } from '../sums/period.js'

export type DigestFrequency = 'daily' | 'weekly'

/** The last local day, or week from Monday on, that is over. */
export function digestSpan(frequency: DigestFrequency, now: number, zone: string): Span {
  const today = startOfDay(now, zone)
  const { year, month, day } = localDate(now, zone)
  // The first of January 1970 was a Thursday.
  const weekday = (Date.UTC(year, month - 1, day) / DAY + 3) % 7
  const to = frequency === 'daily' ? today : daysBefore(today, weekday, zone)
  return { from: daysBefore(to, frequency === 'daily' ? 1 : 7, zone), to }
}

/** So many local days earlier, each as long as the clocks made it. */
export function daysBefore(start: number, days: number, zone: string): number {
  let time = start
  for (let i = 0; i < days; i++) time = startOfDay(time - 1, zone)
  return time
}
