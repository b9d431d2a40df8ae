import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import type { Severity } from '../../model/severity/severity.js'
import { DAY } from '../../model/time.js'
import { packedRows } from '../../store/bulk/packed-rows.js'
import type { SelectQueryBuilder } from '../../store/kysely.js'
import type { Schema } from '../../store/schema.js'
import { localDay } from './local-day.js'
import type { Period, Span } from './period.js'
import { hoursInScope } from './scope-conditions.js'

/** Span per query. Reading it takes a few milliseconds on SQLite. */
const MAX_QUERY_SPAN_MS = 20 * DAY

export interface DaySum {
  /** Midnight of the local date, interpreted as UTC. */
  day: number
  severity: Severity
  platform: string
  count: number
}

/** Occurrences per local day, severity and platform. */
export async function daySums(context: Context, scope: Scope, period: Period): Promise<DaySum[]> {
  return queryInParts(context, scope, period, (hours) =>
    hours
      .select(({ fn }) => [localDay(period).as('day'), 'severity', 'platform', fn.sum<number>('count').as('count')])
      .groupBy(['day', 'severity', 'platform'])
      .execute(),
  )
}

export interface HourSum {
  hour: number
  severity: Severity
  count: number
}

/** Occurrences per hour and severity, in index order. */
export async function hourSums(context: Context, scope: Scope, span: Span): Promise<HourSum[]> {
  return queryInParts(context, scope, span, (hours) =>
    packedRows(
      context.database,
      hours.select(({ fn }) => ['hour', 'severity', fn.sum<number>('count').as('count')]).groupBy(['hour', 'severity']),
      ['hour', 'severity', 'count'],
    ),
  )
}

export interface VersionSum {
  application_id: number
  app_version: string
  severity: Severity
  count: number
  /** First and last hour with occurrences. */
  first_hour: number
  last_hour: number
}

/** Queries the span in parts and returns all rows. One sum may be split over several rows. */
async function queryInParts<Row>(
  context: Context,
  scope: Scope,
  { from, to }: Span,
  query: (hours: SelectQueryBuilder<Schema, 'faultboard_application_hours', object>) => Promise<Row[]>,
): Promise<Row[]> {
  const isInScope = await hoursInScope(context, scope)
  const rows: Row[] = []
  for (let start = from; start < to; start += MAX_QUERY_SPAN_MS) {
    const hours = context.database.read
      .selectFrom('faultboard_application_hours')
      .where(isInScope)
      .where('hour', '>=', start)
      .where('hour', '<', Math.min(start + MAX_QUERY_SPAN_MS, to))
    rows.push(...(await query(hours)))
  }
  return rows
}
