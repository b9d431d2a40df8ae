import type { Context } from '../context.js'
import type { Severity } from '../model/severity.js'
import { DAY, HOUR } from '../model/time.js'
import type { SelectQueryBuilder } from '../store/kysely.js'
import type { Schema } from '../store/schema.js'
import { hoursOf } from './application-filter.js'
import { localDay, localWeekHour, type Period, type Span } from './period.js'

/** So many days of sums are read in a few milliseconds, also where an embedded database holds the host's thread. */
const PART = 20 * DAY

export interface Scope {
  application_id: number | undefined
}

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

/** Occurrences per hour of the week: seven rows from Monday on, of 24 hours each. */
export async function weekHourSums(context: Context, scope: Scope, period: Period): Promise<number[][]> {
  const rows = await inParts(context, scope, period, (hours) =>
    hours
      .select(({ fn }) => [localWeekHour(period).as('week_hour'), fn.sum<number>('count').as('count')])
      .groupBy('week_hour')
      .execute(),
  )
  const week = Array.from({ length: 7 }, () => new Array<number>(24).fill(0))
  for (const { week_hour, count } of rows) {
    // The hours of the week are counted from a Thursday.
    const day = week[(Math.floor(week_hour / DAY) + 3) % 7]
    const hour = (week_hour % DAY) / HOUR
    if (day) day[hour] = (day[hour] ?? 0) + count
  }
  return week
}

export interface PlatformSum {
  platform: string
  severity: Severity
  count: number
}

/** Occurrences per platform and severity. */
export async function platformSums(context: Context, scope: Scope, span: Span): Promise<PlatformSum[]> {
  return inParts(context, scope, span, (hours) =>
    hours
      .select(({ fn }) => ['platform', 'severity', fn.sum<number>('count').as('count')])
      .groupBy(['platform', 'severity'])
      .execute(),
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
