import { markersWithin, type ReleaseMarker } from '../../../analytics/releases/release-markers.js'
import { daysSpan } from '../../../model/chart-span.js'
import { localDay } from '../../../model/time.js'
import type { Rendered, Visit } from '../../define.js'
import { longDate, shortDate } from '../time.js'
import { releaseLines } from './chart-range.js'
import { BarChart, type Series } from './charts.js'

/** Bars of the last local days with release markers. The current day is hatched. */
export function DayChart({
  title,
  unit,
  series,
  days,
  releases,
  linkFor,
  visit,
}: {
  title: string
  /** Plural noun. */
  unit: string
  series: readonly Series[]
  /** Consecutive days up to today. */
  days: readonly { day: string; values: Readonly<Record<string, number>> }[]
  releases: readonly ReleaseMarker[]
  /** Link of a day. */
  linkFor?(day: string): string
  visit: Visit
}): Rendered {
  const { now, time_zone } = visit
  const span = daysSpan(days.length, now, time_zone)
  const today = localDay(now, time_zone)
  return (
    <BarChart
      title={`${title} (${time_zone})`}
      unit={unit}
      series={series}
      bars={days.map(({ day, values }) => ({
        label: shortDate(day),
        name: longDate(day),
        href: linkFor?.(day),
        isCurrent: day === today,
        values,
      }))}
      markers={releaseLines(markersWithin(releases, span), { span, visit })}
    />
  )
}
