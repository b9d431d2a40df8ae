import type { PeriodView } from '../../../analytics/sums/period.js'
import type { ErrorTrends, TypeShares } from '../../../analytics/trends/error-trends.js'
import { SEVERITIES } from '../../../model/severity.js'
import type { Timeframe } from '../../../model/time.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../href.js'
import { BarChart, ShareBars } from '../../ui/charts.js'
import { HeatMap } from '../../ui/heat-map.js'
import { Headlines, Insight } from '../../ui/insight.js'
import { formatCount, longDate, shortDate } from '../../ui/time.js'
import { formatShare, formatWait } from '../../ui/units.js'

/** The list's own words for some of the ranges. */
const TIMEFRAMES: Record<number, Timeframe> = { 7: 'last_7_days', 30: 'last_30_days', 90: 'last_90_days' }

/** Which days a page speaks of. */
export function periodLine({ days, from, time_zone }: PeriodView): string {
  const first = new Date(from).toLocaleDateString('en-GB', { dateStyle: 'medium', timeZone: time_zone })
  return `${days === 1 ? `Today, ${first}` : `${first} until now`}, in ${time_zone}. Figures count occurrences.`
}

/** When, what and where: over time, by type, by platform and by hour. */
export function Trends({ trends, types, visit }: { trends: ErrorTrends; types: TypeShares; visit: Visit }): Rendered {
  const { period, total_occurrences, resolution } = trends
  const { median_ms } = resolution.time_to_resolve
  return (
    <>
      <Headlines
        rows={[
          {
            label: 'Occurrences',
            value: formatCount(total_occurrences),
            how: `${formatCount(Math.round(total_occurrences / elapsed(period)))} a day`,
          },
          {
            label: 'Errors seen',
            value: formatCount(resolution.error_count),
            how: 'distinct errors whose last occurrence is in the period',
            href: href(visit, '/errors', { timeframe: TIMEFRAMES[period.days] }),
          },
          {
            label: 'Resolution rate',
            value: resolution.error_count === 0 ? '–' : formatShare(resolution.resolution_rate),
            how: `${formatCount(resolution.resolved_count)} of those errors are resolved now`,
          },
          {
            label: 'Time to resolve',
            value: formatWait(median_ms),
            how: 'median, from first sight to resolution',
          },
        ]}
      />
      <section class="card">
        <BarChart
          title="Occurrences per day, by severity"
          unit="occurrences"
          series={SEVERITIES.map((severity) => ({ key: severity, label: severity, tone: `severity-${severity}` }))}
          bars={trends.errors_over_time.map(({ date, ...values }) => ({
            label: shortDate(date),
            name: longDate(date),
            href: href(visit, '/errors', { day: date }),
            values,
          }))}
        />
        <p class="how">A bar leads to the errors of its day.</p>
      </section>
      <div class="columns">
        <Insight
          title="By error type"
          how="Occurrences in the period, the ten most frequent types. A type leads to its errors."
        >
          <ShareBars
            title="Occurrences by error type"
            heading="Error type"
            rows={[
              ...types.types.map(({ error_type, count, share }) => ({
                label: error_type,
                href: href(visit, '/errors', { error_type }),
                value: count,
                note: formatShare(share),
              })),
              ...(types.other.type_count > 0
                ? [
                    {
                      label: `${formatCount(types.other.type_count)} other ${types.other.type_count === 1 ? 'type' : 'types'}`,
                      value: types.other.count,
                      note: formatShare(types.other.share),
                    },
                  ]
                : []),
            ]}
          />
        </Insight>
        <div class="stack">
          <Insight title="By platform" how="Occurrences in the period, by the platform of each.">
            <ShareBars
              title="Occurrences by platform"
              heading="Platform"
              rows={trends.errors_by_platform.map(({ platform, count, share }) => ({
                label: platform,
                href: href(visit, '/errors', { platform }),
                value: count,
                note: formatShare(share),
              }))}
            />
          </Insight>
          <Insight
            title="By weekday and hour"
            how={`Occurrences of the period laid over one week, in ${period.time_zone}. The stronger the colour, the more.`}
          >
            <HeatMap title="Occurrences by weekday and hour" counts={trends.errors_by_weekday_and_hour} />
          </Insight>
        </div>
      </div>
    </>
  )
}

function elapsed({ from, to }: PeriodView): number {
  return Math.max(1 / 24, (Date.parse(to) - Date.parse(from)) / 86_400_000)
}
