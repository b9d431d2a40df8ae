import { markersWithin, type ReleaseMarker } from '../../../analytics/releases/release-markers.js'
import { type ChartSpan, type ChartStep, daysSpan } from '../../../model/chart-span.js'
import type { Rendered, Visit } from '../../define.js'
import { currentPageWith } from '../../links/href.js'
import { releaseLines, SpanName, SpanZoneNote, spanAxis, spanBars } from './chart-range.js'
import { BarChart, type Series } from './charts.js'

type Values = Readonly<Record<string, number>>

/** Selected part of a chart. */
export interface Zoom {
  span: ChartSpan
  /** Values of each bar. */
  values: readonly Values[]
}

/** Bars of the last local days, or of the selected part, with release markers. */
export function DayChart({
  title,
  unit,
  series,
  days,
  releases,
  zoom = null,
  finestStep = 'five_minutes',
  linksToErrors = false,
  visit,
}: {
  title: string
  /** Unit as a plural noun. */
  unit: string
  series: readonly Series[]
  /** Consecutive days up to today. */
  days: readonly { values: Values }[]
  releases: readonly ReleaseMarker[]
  zoom?: Zoom | null
  /** Bars of this length cannot be divided further. */
  finestStep?: ChartStep
  /** Links each day in the table to its errors. */
  linksToErrors?: boolean
  visit: Visit
}): Rendered {
  const { now, time_zone } = visit
  const span = zoom?.span ?? daysSpan(days.length, now, time_zone)
  const bars = spanBars({ span, visit, finestStep }, zoom?.values ?? days.map(({ values }) => values))
  return (
    <>
      <BarChart
        title={zoom ? title : `${title} per day (${time_zone})`}
        axis={spanAxis(span, visit)}
        unit={unit}
        series={series}
        bars={linksToErrors ? bars : bars.map((bar) => ({ ...bar, href: undefined }))}
        markers={releaseLines(markersWithin(releases, span), { span, visit })}
      />
      {zoom && (
        <p class="meta">
          <SpanName span={span} visit={visit} />
          {' · '}
          <SpanZoneNote span={span} visit={visit} />
          {' · '}
          <a href={currentPageWith(visit, { from: null, to: null })}>Reset zoom</a>
        </p>
      )}
    </>
  )
}
