import { cachedReleaseTimes, type ReleaseMarker } from '../../analytics/releases/release-markers.js'
import { inEnvironment } from '../../analytics/sums/scope-conditions.js'
import type { Context } from '../../context.js'
import { type ChartSpan, chartSpan } from '../../model/chart-span.js'
import { HOUR } from '../../model/time.js'
import type { HourTableName } from '../../store/counters/define-hour-table.js'
import { sql } from '../../store/kysely.js'
import { type DaysPageParameters, firstHour } from './days.js'
import { type HourCondition, hoursBetween } from './hour-slices.js'

interface HourSum {
  hour: number
  count: number
  /** Series of the chart. If absent, the chart has a single series. */
  kind?: string
}

/** Counts are stored per hour, and a shorter span would be divided into five minutes. */
const MIN_SPAN_MS = 4 * HOUR

type ReadSums = (condition: HourCondition) => Promise<readonly HourSum[]>

interface Zoom {
  span: ChartSpan
  values: Record<string, number>[]
}

/** Parts of a chart of hourly counts that only the page shows. */
export async function loadChart(
  context: Context,
  parameters: DaysPageParameters,
  table: HourTableName,
  readSums: ReadSums,
): Promise<{ releases: ReleaseMarker[]; zoom: Zoom | null }> {
  const { application_id, environment } = parameters
  const releases = await cachedReleaseTimes(context, { application_id, environment })
  const applications = await countedApplications(context, parameters, table)
  return {
    // Releases of other applications cannot explain a change of the chart.
    releases: releases.filter((release) => applications.has(release.application_id)),
    zoom: await loadZoom(context, parameters, readSums),
  }
}

/** Applications with a row in the period. Stops at the first row of each application. */
async function countedApplications(
  { config, database: { read }, now }: Context,
  { days, from, application_id, environment }: DaysPageParameters,
  table: HourTableName,
): Promise<Set<number>> {
  if (application_id !== undefined) return new Set([application_id])
  const first = Math.min(from ?? Number.POSITIVE_INFINITY, firstHour(days, now(), config.time_zone))
  const { rows } = await sql<{ id: number }>`
    select id from faultboard_applications where exists (
      select 1 from ${sql.table(table)} where application_id = faultboard_applications.id
        and hour >= ${first} and ${inEnvironment({ environment })})`.execute(read)
  return new Set(rows.map(({ id }) => id))
}

/** Part of the chart between `from` and `to`. Null without them. */
async function loadZoom(
  context: Context,
  { from, to, application_id, environment }: DaysPageParameters,
  readSums: ReadSums,
): Promise<Zoom | null> {
  if (from === undefined || to === undefined) return null
  const { config, now } = context
  const end = from < to ? Math.max(to, from + MIN_SPAN_MS) : to
  const span = chartSpan({ from, to: end }, now(), config.time_zone)
  const values = span.starts.map((): Record<string, number> => ({}))
  for await (const condition of hoursBetween(context, span, { application_id, environment })) {
    for (const { hour, kind = 'count', count } of await readSums(condition)) {
      const bar = values[span.starts.findLastIndex((start) => start <= hour)]
      if (bar) bar[kind] = (bar[kind] ?? 0) + count
    }
  }
  return { span, values }
}
