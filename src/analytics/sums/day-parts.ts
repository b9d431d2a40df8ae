import type { Context } from '../../context.js'
import { DAY } from '../../model/time.js'
import { startOfUtcDay } from '../../model/utc-day.js'
import type { Scope } from './application-filter.js'
import { hoursOf } from './application-filter.js'
import type { Span } from './period.js'

/** A span as whole days of UTC, with the hours by which these are too few or too many. */
export interface DayParts {
  days: Span
  missing: Span[]
  too_many: Span[]
}

/** Sums by day are few, sums by hour are exact: a span is made of days, and its ends of at most half a day of hours. */
export async function dayParts(context: Context, scope: Scope, { from, to }: Span): Promise<DayParts> {
  const parts: DayParts = { days: { from: 0, to: 0 }, missing: [], too_many: [] }
  const [first, last] = [startOfUtcDay(from), startOfUtcDay(to)]
  if (from - first > DAY / 2) {
    parts.days.from = first + DAY
    parts.missing.push({ from, to: first + DAY })
  } else {
    parts.days.from = first
    if (from > first) parts.too_many.push({ from: first, to: from })
  }
  if (to === last || (await isSilentFrom(context, scope, to))) parts.days.to = to === last ? to : last + DAY
  else if (to - last > DAY / 2) {
    parts.days.to = last + DAY
    parts.too_many.push({ from: to, to: last + DAY })
  } else {
    parts.days.to = last
    parts.missing.push({ from: last, to })
  }
  return parts
}

/** Nearly every span ends with the hour that is running, and then its last day needs no looking at. */
async function isSilentFrom(context: Context, { application_id }: Scope, time: number): Promise<boolean> {
  const later = await context.database.read
    .selectFrom('faultboard_application_hours')
    .select('hour')
    .where(await hoursOf(context, application_id))
    .where('hour', '>=', time)
    .limit(1)
    .executeTakeFirst()
  return later === undefined
}
