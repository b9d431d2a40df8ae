import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import { scaleToHours } from '../../model/scale-to-hours.js'
import type { Severity } from '../../model/severity/severity.js'
import { firstHourFrom, MINUTE, startOfHour } from '../../model/time.js'
import type { Span } from '../sums/period.js'
import { errorsInScope, hoursInScope } from '../sums/scope-conditions.js'

export interface FiveMinuteCount {
  start: number
  /** Severity of the error. */
  severity: Severity
  count: number
}

const FIVE_MINUTES_MS = 5 * MINUTE
/** Limits the cost of a bar in an error storm. Counts are scaled to the exact number of the hour. */
const MAX_ROWS_PER_BAR = 5000

/** Occurrences per five-minute interval. Extends the span to whole hours. Meant for spans of a few hours. */
export async function fiveMinuteCounts(context: Context, scope: Scope, span: Span): Promise<FiveMinuteCount[]> {
  const [from, to] = [startOfHour(span.from), Math.min(firstHourFrom(span.to), context.now() + 1)]
  const rows: FiveMinuteCount[] = []
  for (let start = from; start < to; start += FIVE_MINUTES_MS) {
    rows.push(...(await countStored(context, scope, start)))
  }
  return scaleToHours(rows, await countByHour(context, scope, { from, to }))
}

async function countStored(context: Context, scope: Scope, start: number): Promise<FiveMinuteCount[]> {
  const { read } = context.database
  const rows = await read
    .selectFrom(
      read
        .selectFrom('faultboard_occurrences')
        .select('error_id')
        .where('occurred_at', '>=', start)
        .where('occurred_at', '<', start + FIVE_MINUTES_MS)
        .limit(MAX_ROWS_PER_BAR)
        .as('o'),
    )
    .innerJoin('faultboard_errors as e', 'e.id', 'o.error_id')
    .select(({ fn }) => ['e.severity', fn.countAll<number>().as('count')])
    .where(errorsInScope(context, scope, { table: 'e' }))
    .groupBy('e.severity')
    .execute()
  return rows.map(({ severity, count }) => ({ start, severity, count: Number(count) }))
}

async function countByHour(context: Context, scope: Scope, { from, to }: Span) {
  const rows = await context.database.read
    .selectFrom('faultboard_application_hours')
    .select(({ fn }) => ['hour', fn.sum<number>('count').as('count')])
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .where(await hoursInScope(context, scope))
    .groupBy('hour')
    .execute()
  return new Map(rows.map(({ hour, count }) => [hour, Number(count)]))
}
