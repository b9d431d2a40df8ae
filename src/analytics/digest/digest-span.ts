import { DAY, localDateTime, startOfDay } from '../../model/time.js'
import type { Span } from '../sums/period.js'

export type DigestFrequency = 'daily' | 'weekly'

/** Last complete local day, or last complete week starting on Monday. */
export function digestSpan(frequency: DigestFrequency, now: number, timeZone: string): Span {
  const today = startOfDay(now, timeZone)
  const { year, month, day } = localDateTime(now, timeZone)
  // January 1, 1970 was a Thursday.
  const weekday = (Date.UTC(year, month - 1, day) / DAY + 3) % 7
  const to = frequency === 'daily' ? today : daysBefore(today, weekday, timeZone)
  return { from: daysBefore(to, frequency === 'daily' ? 1 : 7, timeZone), to }
}

/** Subtracts local days, which may be shorter or longer on daylight saving changes. */
export function daysBefore(start: number, days: number, timeZone: string): number {
  let time = start
  for (let i = 0; i < days; i++) time = startOfDay(time - 1, timeZone)
  return time
}
