import type { ErrorTrends } from '../../../analytics/trends/error-trends.js'
import { RECURRING_AFTER_DAYS } from '../../../analytics/trends/recurring-errors.js'
import type { Resolution, ResolutionRate, ResolutionTimes } from '../../../analytics/trends/resolution.js'
import { DAY, HOUR } from '../../../model/time.js'
import type { Rendered, Visit } from '../../define.js'
import { href, openErrorsLink } from '../../links/href.js'
import { SeverityBadge } from '../../ui/badges.js'
import { BarChart } from '../../ui/charts/charts.js'
import { timeAxis } from '../../ui/charts/time-axis.js'
import { ErrorLink } from '../../ui/error-link.js'
import { Insight, InsightTable, RankingTable } from '../../ui/insight.js'
import { formatCount, longDate, Time } from '../../ui/time.js'
import { formatDuration, samplePercent } from '../../ui/units.js'

interface Row {
  label: Rendered
  rate: ResolutionRate
  times: ResolutionTimes
}

const NO_TIMES: ResolutionTimes = { resolved_count: 0, median_ms: null, mean_ms: null }

/** Resolution rate and time to resolve by severity. Adds platforms if the Platforms page is disabled. */
export function ResolutionRates({ resolution, visit }: { resolution: Resolution; visit: Visit }): Rendered {
  const { by_severity, by_platform, time_to_resolve } = resolution
  return (
    <Insight
      title="Resolution"
      description="Errors seen in the period, and the share resolved now. Median time from first occurrence to resolution."
    >
      <ResolutionTable
        title="Resolution by severity"
        heading="Severity"
        rows={by_severity
          .filter(({ error_count }) => error_count > 0)
          .map(({ severity, ...rate }) => ({
            label: (
              <a href={href(visit, '/errors', { severity })}>
                <SeverityBadge severity={severity} />
              </a>
            ),
            rate,
            times: time_to_resolve.by_severity.find((row) => row.severity === severity) ?? NO_TIMES,
          }))}
      />
      {!visit.switches.enable_platform_comparison && (
        <ResolutionTable
          title="Resolution by platform"
          heading="Platform"
          rows={by_platform.map(({ platform, ...rate }) => ({
            label: <a href={href(visit, '/errors', { platform })}>{platform}</a>,
            rate,
            times: time_to_resolve.by_platform.find((row) => row.platform === platform) ?? NO_TIMES,
          }))}
        />
      )}
    </Insight>
  )
}

/** Time to resolve by week. */
export function ResolutionTimesByWeek({ resolution: { time_to_resolve } }: { resolution: Resolution }): Rendered {
  return (
    <section class="card insight">
      <WeeklyTimes weeks={time_to_resolve.by_week} />
      <p class="description">
        {`${formatCount(time_to_resolve.resolved_count)} resolved in the period. Median ${formatDuration(time_to_resolve.median_ms)}, mean ${formatDuration(time_to_resolve.mean_ms)}. Weeks start on Monday.`}
      </p>
    </section>
  )
}

export function RecurringErrors({
  recurring_errors,
  visit,
}: {
  recurring_errors: ErrorTrends['recurring_errors']
  visit: Visit
}): Rendered {
  return (
    <Insight
      title="Recurring errors"
      description={
        <>
          {`Unresolved for more than ${RECURRING_AFTER_DAYS} days and still occurring, by total occurrences. `}
          <a href={openErrorsLink(visit, { sort_by: 'first_seen_at', sort_direction: 'asc' })}>All open errors</a>
        </>
      }
    >
      {recurring_errors.length === 0 ? (
        <p class="muted">No recurring errors.</p>
      ) : (
        <RankingTable
          title="Recurring errors"
          rows={recurring_errors}
          columns={[
            { name: 'Error', cell: (error) => <ErrorLink error={error} visit={visit} /> },
            { name: 'Severity', cell: ({ severity }) => <SeverityBadge severity={severity} /> },
            { name: 'Open', number: true, cell: ({ open_days }) => `${formatCount(open_days)} days` },
            {
              name: 'Occurrences',
              number: true,
              cell: ({ occurrence_count }) => formatCount(occurrence_count),
            },
            { name: 'Last seen', number: true, cell: ({ occurred_at }) => <Time iso={occurred_at} visit={visit} /> },
          ]}
        />
      )}
    </Insight>
  )
}

/** Median time to resolve by week, in hours or days. */
function WeeklyTimes({ weeks }: { weeks: Resolution['time_to_resolve']['by_week'] }) {
  const max = Math.max(0, ...weeks.map(({ median_ms }) => median_ms ?? 0))
  const [unit, unitMs] = max > 4 * DAY ? (['days', DAY] as const) : (['hours', HOUR] as const)
  return (
    <BarChart
      title={`Median ${unit} to resolve, per week`}
      unit={unit}
      axis={timeAxis(
        weeks.map(({ week }) => Date.parse(week)),
        { step: 7 * DAY, time_zone: 'UTC' },
      )}
      series={[{ key: unit, label: `Median ${unit}`, tone: 'series-1' }]}
      bars={weeks.map(({ week, median_ms }, i) => ({
        name: `Week of ${longDate(week)}`,
        isCurrent: i === weeks.length - 1,
        values: { [unit]: median_ms === null ? 0 : Math.round((median_ms / unitMs) * 10) / 10 },
      }))}
    />
  )
}

function ResolutionTable({ title, heading, rows }: { title: string; heading: string; rows: readonly Row[] }) {
  return (
    <InsightTable
      title={title}
      rows={rows}
      columns={[
        { name: heading, cell: ({ label }) => label },
        { name: 'Errors', number: true, cell: ({ rate }) => formatCount(rate.error_count) },
        { name: 'Resolved', number: true, cell: ({ rate }) => resolvedText(rate) },
        { name: 'Median time', number: true, cell: ({ times }) => formatDuration(times.median_ms) },
      ]}
    />
  )
}

function resolvedText({ resolution_rate, resolved_count, error_count }: Row['rate']): string {
  return samplePercent(resolution_rate, error_count) ?? `${formatCount(resolved_count)} of ${formatCount(error_count)}`
}
