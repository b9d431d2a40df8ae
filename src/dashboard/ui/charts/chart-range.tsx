import type { ReleaseMarker } from '../../../analytics/releases/release-markers.js'
import { barEnd, CHART_RANGES, type ChartRange, type ChartSpan, type ChartStep } from '../../../model/chart-span.js'
import { localDay } from '../../../model/time.js'
import type { Rendered, Visit } from '../../define.js'
import { currentPageWith, href } from '../../links/href.js'
import { Tabs } from '../layout/tabs.js'
import { mixedApplication, releasePath } from '../release-link.js'
import { clockTime, exactTime, longDate, namedTime } from '../time.js'
import type { Bar, Marker } from './charts.js'
import { type TimeAxis, timeAxis } from './time-axis.js'

const RANGE_LABELS: Record<ChartRange, string> = {
  '1h': '1 h',
  '24h': '24 h',
  '7d': '7 d',
  '30d': '30 d',
  '90d': '90 d',
}
const RANGE_NAMES: Record<ChartRange, string> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
}

interface ChartProps {
  span: ChartSpan
  visit: Visit
  /** URL fragment of the chart, for a chart far down the page. */
  fragment?: string
}

/** Properties of a span that determine the position of markers. */
type MarkedSpan = Pick<ChartSpan, 'from' | 'to' | 'starts'>

/** Tabs for the ranges of a chart, and a link that resets the zoom. */
export function ChartRangeTabs({ span, visit, fragment = '' }: ChartProps): Rendered {
  const link = (range: ChartRange | null) =>
    `${currentPageWith(visit, { ...(range && { range }), from: null, to: null })}${fragment}`
  return (
    <div class="chart-range">
      <Tabs
        label="Range"
        tabs={CHART_RANGES.map((range) => ({
          label: RANGE_LABELS[range],
          href: link(range),
          current: range === span.range,
        }))}
      />
      {span.range === null && <a href={link(null)}>Reset zoom</a>}
    </div>
  )
}

/** Name of the span, such as "Last 30 days". */
export function SpanName({ span, visit }: Pick<ChartProps, 'span' | 'visit'>): Rendered {
  if (span.range !== null) return RANGE_NAMES[span.range]
  const { from, to } = span
  const { time_zone, now } = visit
  const [first, last] = [localDay(from, time_zone), localDay(to - 1, time_zone)]
  if (first !== last) return `${longDate(first)} – ${longDate(last)}`
  const isWholeDay = localDay(from - 1, time_zone) !== first && (to > now || localDay(to, time_zone) !== last)
  if (isWholeDay) return longDate(first)
  return (
    <span data-span={showsLocalTimes(span, visit) ? `${from} ${to}` : undefined}>{spanText(from, to, time_zone)}</span>
  )
}

/** Zone of a chart, such as `Times in Europe/Berlin`. Days and parts of days always follow `time_zone`. */
export function SpanZoneNote({ span, visit }: Pick<ChartProps, 'span' | 'visit'>): Rendered {
  if (hasWholeDays(span)) return `Days in ${visit.time_zone}`
  return <TimeZoneNote visit={visit} />
}

/** Time zone of the times in a chart. */
export function TimeZoneNote({ visit }: { visit: Visit }): Rendered {
  return (
    <>
      {'Times in '}
      <span data-zone={visit.shows_local_time || undefined}>{visit.time_zone}</span>
    </>
  )
}

/** Labels below the bars of a span. */
export function spanAxis(span: ChartSpan, visit: Visit): TimeAxis {
  const step = barEnd(span, 0) - span.from
  return timeAxis(span.starts, { step, time_zone: visit.time_zone, isLocal: showsLocalTimes(span, visit) })
}

function hasWholeDays({ step }: ChartSpan): boolean {
  return step === 'day' || step === 'quarter_day'
}

function showsLocalTimes(span: ChartSpan, { shows_local_time }: Visit): boolean {
  return shows_local_time && !hasWholeDays(span)
}

/** Bars of a span with their names and the links that zoom into them. */
export function spanBars(
  { span, visit, fragment = '', finestStep = 'five_minutes' }: ChartProps & { finestStep?: ChartStep },
  values: readonly Readonly<Record<string, number>>[],
): Bar[] {
  const { time_zone, now } = visit
  const unzoomed = currentPageWith(visit, { from: null, to: null })
  const zoomPrefix = `${unzoomed}${unzoomed.includes('?') ? '&' : '?'}`
  return span.starts.map((from, i) => {
    const to = barEnd(span, i)
    const day = localDay(from, time_zone)
    return {
      name: span.step === 'day' ? longDate(day) : `${spanText(from, to, time_zone)} ${time_zone}`,
      href: span.step === 'day' ? href(visit, '/errors', { day }) : undefined,
      zoom:
        span.step === finestStep || span.step === 'five_minutes'
          ? undefined
          : `${zoomPrefix}from=${from / 1000}&to=${to / 1000}${fragment}`,
      isCurrent: now >= from && now < to,
      values: values[i] ?? {},
    }
  })
}

/** Lines at the times when releases were first seen. */
export function releaseLines(
  releases: readonly ReleaseMarker[],
  { span, visit, isOfOneApplication = false }: { span: MarkedSpan; visit: Visit; isOfOneApplication?: boolean },
): Marker[] {
  return releases.map((release) => {
    const { app_version, first_seen_at } = release
    const application = isOfOneApplication ? null : mixedApplication(release, visit)
    return {
      position: barPosition(span, Date.parse(first_seen_at)),
      label: application === null ? app_version : `${app_version} ${application}`,
      name: `Release ${app_version}${application === null ? '' : ` of ${application}`}, first seen ${exactTime(first_seen_at, visit.time_zone)}`,
      time: namedTime(first_seen_at, visit),
      href: releasePath(release, visit),
    }
  })
}

/** Bars have the same width, although a day can have 23 or 25 hours. */
function barPosition(span: MarkedSpan, time: number): number {
  const index = Math.max(
    0,
    span.starts.findLastIndex((start) => start <= time),
  )
  const [start = span.from, end] = [span.starts[index], barEnd(span, index)]
  return Math.min(1, (index + (time - start) / (end - start)) / span.starts.length)
}

/** `Tue, 19 May 2026, 06:00–07:00`. */
export function spanText(from: number, to: number, time_zone: string): string {
  const [start, end] = [from, to].map((time) => clockTime(time, time_zone))
  return `${longDate(localDay(from, time_zone))}, ${start}–${end}`
}
