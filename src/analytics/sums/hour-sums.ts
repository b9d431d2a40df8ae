import type { Context } from '../../context.js'
import type { Severity } from '../../model/severity.js'
import { DAY } from '../../model/time.js'
import type { SelectQueryBuilder } from '../../store/kysely.js'
import { packedRows } from '../../store/packed-rows.js'
import type { Schema } from '../../store/schema.js'
import type { Scope } from './application-filter.js'
import { hoursOf } from './application-filter.js'
import { localDay, type Period, type Span } from './period.js'

/** So many days of sums are read in a few milliseconds, also where an embedded database holds the host's thread. */
const PART = 20 * DAY

export interface DaySum {
  /** Midnight of the local date, as if it were in UTC. */
  day: number
  severity: Severity
  platform: string
  count: number
}

/** Occurrences per local day, severity and platform. */
export async function daySums(context: Context, scope: Scope, period: Period): Promise<DaySum[]> {
  return inParts(context, scope, period, (hours) =>
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

/** Occurrences per hour and severity, in the order in which an index has them. */
export async function hourSums(context: Context, scope: Scope, span: Span): Promise<HourSum[]> {
  return inParts(context, scope, span, (hours) =>
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
  /** The first and the last hour with one. */
  first_hour: number
  last_hour: number
}

/** Asks about the hours of the span part by part, and gives the rows of all: one sum may come in several rows. */
async function inParts<Row>(
  context: Context,
  { application_id }: Scope,
  { from, to }: Span,
  ask: (hours: SelectQueryBuilder<Schema, 'faultboard_application_hours', object>) => Promise<Row[]>,
): Promise<Row[]> {
  const ofApplication = await hoursOf(context, application_id)
  const rows: Row[] = []
  for (let start = from; start < to; start += PART) {
    const hours = context.database.read
      .selectFrom('faultboard_application_hours')
      .where(ofApplication)
      .where('hour', '>=', start)
      .where('hour', '<', Math.min(start + PART, to))
    rows.push(...(await ask(hours)))
  }
  return rows
}
