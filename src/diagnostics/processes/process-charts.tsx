import { markersWithin, type ReleaseMarker } from '../../analytics/releases/release-markers.js'
import type { Rendered, Visit } from '../../dashboard/define.js'
import { currentPageWith } from '../../dashboard/links/href.js'
import { releaseLines, spanText, TimeZoneNote } from '../../dashboard/ui/charts/chart-range.js'
import { BarChart } from '../../dashboard/ui/charts/charts.js'
import { type Line, LineChart, type Moment } from '../../dashboard/ui/charts/line-chart.js'
import { timeAxis } from '../../dashboard/ui/charts/time-axis.js'
import { formatBytes, formatMilliseconds, formatPercent } from '../../dashboard/ui/units.js'
import { MINUTE } from '../../model/time.js'
import type { HealthPoint } from './process-health.js'

const MB = 1024 * 1024

/** Charts with a shared time axis, followed by the errors of the process. */
export function ProcessCharts({
  points,
  stepMinutes,
  releases,
  visit,
}: {
  points: readonly HealthPoint[]
  stepMinutes: number
  releases: readonly ReleaseMarker[]
  visit: Visit
}): Rendered {
  const moments = formatMoments(points, stepMinutes, visit)
  const errorCounts = points.map(({ errors }) => errors ?? 0)
  const line = (label: string, tone: Line['tone'], read: (point: HealthPoint) => number | null): Line => ({
    label,
    tone,
    values: points.map(read),
  })
  const span = pointsSpan(points, stepMinutes)
  const markers = releaseLines(markersWithin(releases, span), { span, visit, isOfOneApplication: true })
  const axis = timeAxis(span.starts, {
    step: stepMinutes * MINUTE,
    time_zone: visit.time_zone,
    isLocal: visit.shows_local_time,
  })
  const marks = errorCounts.some((count) => count > 0) ? { label: 'Errors', counts: errorCounts } : undefined
  const shared = { moments, axis, marks, markers }
  return (
    <div class="process-charts">
      <LineChart
        {...shared}
        title="Memory"
        format={formatBytes}
        scale={1024}
        minMax={32 * MB}
        lines={[line('Process (RSS)', 1, (p) => p.rss_bytes), line('Heap used', 2, (p) => p.heap_used_bytes)]}
      />
      <LineChart
        {...shared}
        title="Event loop delay"
        format={formatMilliseconds}
        minMax={10}
        lines={[
          line('p99', 1, (p) => p.delay_p99_ms),
          line('Longest', 2, (p) => p.delay_max_ms),
          line('p50', 3, (p) => p.delay_p50_ms),
        ]}
      />
      <LineChart
        {...shared}
        title="CPU and event loop"
        format={formatPercent}
        minMax={0.1}
        lines={[line('CPU', 1, (p) => p.cpu), line('Event loop utilization', 2, (p) => p.utilization)]}
      />
      <LineChart
        {...shared}
        title="Garbage collection per minute"
        format={formatMilliseconds}
        minMax={10}
        lines={[line('Pause time', 1, (p) => p.gc_ms)]}
      />
      <BarChart
        title={stepMinutes === 1 ? 'Errors per minute' : 'Errors'}
        unit="errors"
        axis={axis}
        series={[{ key: 'errors', label: 'Errors', tone: 'series-1' }]}
        bars={errorCounts.map((errors, i) => ({
          name: moments[i]?.name ?? '',
          isCurrent: moments[i]?.isCurrent,
          zoom: moments[i]?.zoom,
          values: { errors },
        }))}
        markers={markers}
      />
      <p class="meta muted">
        <TimeZoneNote visit={visit} />
      </p>
    </div>
  )
}

/** Time of the charts. The last point is in progress. */
function pointsSpan(points: readonly HealthPoint[], stepMinutes: number) {
  const starts = points.map(({ at }) => Date.parse(at))
  return { from: starts[0] ?? 0, to: (starts.at(-1) ?? 0) + stepMinutes * MINUTE, starts }
}

function formatMoments(points: readonly HealthPoint[], stepMinutes: number, visit: Visit): Moment[] {
  const { now, time_zone } = visit
  return points.map(({ at }) => {
    const from = Date.parse(at)
    const to = from + stepMinutes * MINUTE
    return {
      name: `${spanText(from, to, time_zone)} ${time_zone}`,
      isCurrent: now >= from && now < to,
      // Metrics are stored per minute.
      zoom: stepMinutes > 1 ? currentPageWith(visit, { from: from / 1000, to: to / 1000 }) : undefined,
    }
  })
}
