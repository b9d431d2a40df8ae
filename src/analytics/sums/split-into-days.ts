import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import { DAY, startOfUtcDay } from '../../model/time.js'
import type { Span } from './period.js'
import { hoursInScope } from './scope-conditions.js'

/** Span as whole UTC days, with the hours to add and to subtract. */
export interface DayParts {
  days: Span
  missing: Span[]
  extra: Span[]
}

/** Splits a span into days, which have few rows, and up to half a day of hours at each end. */
export async function splitIntoDays(context: Context, scope: Scope, { from, to }: Span): Promise<DayParts> {
  const parts: DayParts = { days: { from: 0, to: 0 }, missing: [], extra: [] }
  const [first, last] = [startOfUtcDay(from), startOfUtcDay(to)]
  if (from - first > DAY / 2) {
    parts.days.from = first + DAY
    parts.missing.push({ from, to: first + DAY })
  } else {
    parts.days.from = first
    if (from > first) parts.extra.push({ from: first, to: from })
  }
  if (to === last || (await hasNoOccurrencesSince(context, scope, to))) parts.days.to = to === last ? to : last + DAY
  else if (to - last > DAY / 2) {
    parts.days.to = last + DAY
    parts.extra.push({ from: to, to: last + DAY })
  } else {
    parts.days.to = last
    parts.missing.push({ from: last, to })
  }
  return parts
}

/** Usually true, because most spans end with the current hour. The last day can then be used as a whole. */
async function hasNoOccurrencesSince(context: Context, scope: Scope, time: number): Promise<boolean> {
  const later = await context.database.read
    .selectFrom('faultboard_application_hours')
    .select('hour')
    .where(await hoursInScope(context, scope))
    .where('hour', '>=', time)
    .limit(1)
    .executeTakeFirst()
  return later === undefined
}
