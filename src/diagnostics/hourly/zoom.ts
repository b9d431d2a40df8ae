import type * as v from 'valibot'
import type { Context } from '../../context.js'
import { type ChartSpan, chartSpan, type zoomInput } from '../../model/chart-span.js'
import { HOUR } from '../../model/time.js'
import { type HourCondition, hoursBetween } from './hour-slices.js'

interface HourSum {
  hour: number
  count: number
  /** Series of the chart. If absent, the chart has a single series. */
  kind?: string
}

/** Counts are stored per hour, and a shorter span would be divided into five minutes. */
const MIN_SPAN_MS = 4 * HOUR

/** Part of a chart of hourly counts. Null without `from` and `to`. */
export async function loadZoom(
  context: Context,
  {
    from,
    to,
    application_id,
  }: v.InferOutput<v.ObjectSchema<typeof zoomInput, undefined>> & { application_id?: number | undefined },
  readSums: (condition: HourCondition) => Promise<readonly HourSum[]>,
): Promise<{ span: ChartSpan; values: Record<string, number>[] } | null> {
  if (from === undefined || to === undefined) return null
  const { config, now } = context
  const end = from < to ? Math.max(to, from + MIN_SPAN_MS) : to
  const span = chartSpan({ from, to: end }, now(), config.time_zone)
  const values = span.starts.map((): Record<string, number> => ({}))
  for await (const condition of hoursBetween(context, span, application_id)) {
    for (const { hour, kind = 'count', count } of await readSums(condition)) {
      const bar = values[span.starts.findLastIndex((start) => start <= hour)]
      if (bar) bar[kind] = (bar[kind] ?? 0) + count
    }
  }
  return { span, values }
}
