import type { ReleaseMarker } from '../../../analytics/releases/release-markers.js'
import type { PeriodView } from '../../../analytics/sums/period.js'
import type { ErrorTrends, TypeShares } from '../../../analytics/trends/error-trends.js'
import { SEVERITIES } from '../../../model/severity/severity.js'
import type { Timeframe } from '../../../model/time.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { ShareBars } from '../../ui/charts/charts.js'
import { DayChart, type Zoom } from '../../ui/charts/day-chart.js'
import { HeatMap } from '../../ui/charts/heat-map.js'
import { Headlines, Insight } from '../../ui/insight.js'
import { formatCount, localDate } from '../../ui/time.js'
import { formatDuration, samplePercent, sharePercent } from '../../ui/units.js'
import { ResolutionTimesByWeek } from './resolution-figures.js'

/** Timeframe filters of the list for common ranges. */
const TIMEFRAMES: Record<number, Timeframe> = { 7: 'last_7_days', 30: 'last_30_days', 90: 'last_90_days' }

/** Period of a page: `18 Oct 2026 – now (UTC)`. */
export function periodText({ days, from, time_zone }: PeriodView): string {
  const first = localDate(from, time_zone)
  return `${days === 1 ? `Today, ${first}` : `${first} – now`} (${time_zone})`
}

/** Occurrences over time, by type, platform, weekday and hour, and their resolution. */
export function Trends({
  trends,
  types,
  releases,
  zoom,
  visit,
}: {
  trends: ErrorTrends
  types: TypeShares
  releases: readonly ReleaseMarker[]
  zoom: Zoom | null
  visit: Visit
}): Rendered {
  const { period, total_occurrences, resolution } = trends
  const { median_ms } = resolution.time_to_resolve
  return (
    <>
      <Headlines
        rows={[
          {
            label: 'Occurrences',
            value: formatCount(total_occurrences),
            description: `${formatCount(Math.round(total_occurrences / elapsedDays(period)))} per day`,
          },
          {
            label: 'Errors seen',
            value: formatCount(resolution.error_count),
            description: 'distinct errors last seen in the period',
            href: href(visit, '/errors', { timeframe: TIMEFRAMES[period.days] }),
          },
          {
            label: 'Resolution rate',
            value: samplePercent(resolution.resolution_rate, resolution.error_count) ?? '–',
            description: `${formatCount(resolution.resolved_count)} of ${formatCount(resolution.error_count)} errors resolved`,
          },
          {
            label: 'Time to resolve',
            value: formatDuration(median_ms),
            description: 'median from first occurrence to resolution',
          },
        ]}
      />
      <section class="card">
        <DayChart
          title="Occurrences"
          unit="occurrences"
          series={SEVERITIES.map((severity) => ({ key: severity, label: severity, tone: `severity-${severity}` }))}
          days={trends.errors_over_time.map(({ date, ...values }) => ({ values }))}
          releases={releases}
          zoom={zoom}
          linksToErrors
          visit={visit}
        />
      </section>
      <div class="columns">
        <Insight title="By error type" description="Ten most frequent types.">
          <ShareBars
            title="Occurrences by error type"
            heading="Error type"
            rows={[
              ...types.types.map(({ error_type, count, share }) => ({
                label: error_type,
                href: href(visit, '/errors', { error_type }),
                value: count,
                note: sharePercent(count, share),
              })),
              ...(types.other.type_count > 0
                ? [
                    {
                      label: `${formatCount(types.other.type_count)} other ${types.other.type_count === 1 ? 'type' : 'types'}`,
                      value: types.other.count,
                      note: sharePercent(types.other.count, types.other.share),
                    },
                  ]
                : []),
            ]}
          />
        </Insight>
        <div class="stack">
          {!visit.switches.enable_platform_comparison && <Platforms trends={trends} visit={visit} />}
          <Insight title="By weekday and hour" description={`Occurrences by weekday and hour (${period.time_zone}).`}>
            <HeatMap title="Occurrences by weekday and hour" counts={trends.errors_by_weekday_and_hour} />
          </Insight>
          <ResolutionTimesByWeek resolution={resolution} />
        </div>
      </div>
    </>
  )
}

/** Occurrences by platform. Shown only if the more detailed Platforms page is disabled. */
function Platforms({ trends, visit }: { trends: ErrorTrends; visit: Visit }) {
  return (
    <Insight title="By platform" description="Occurrences in the period.">
      <ShareBars
        title="Occurrences by platform"
        heading="Platform"
        rows={trends.errors_by_platform.map(({ platform, count, share }) => ({
          label: platform,
          href: href(visit, '/errors', { platform }),
          value: count,
          note: sharePercent(count, share),
        }))}
      />
    </Insight>
  )
}

function elapsedDays({ from, to }: PeriodView): number {
  return Math.max(1 / 24, (Date.parse(to) - Date.parse(from)) / 86_400_000)
}
