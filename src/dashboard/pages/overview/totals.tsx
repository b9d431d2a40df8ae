import type { DashboardStats } from '../../../analytics/overview/dashboard-stats.js'
import { MAX_LISTED_PLATFORMS } from '../../../model/requests/platform.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { ShareBars } from '../../ui/charts/charts.js'
import { formatCount } from '../../ui/time.js'

/** Totals by period, status, type and platform. */
export function Totals({ stats, visit }: { stats: DashboardStats; visit: Visit }): Rendered {
  return (
    <section class="card overview-totals" aria-labelledby="totals">
      <h2 id="totals">All errors</h2>
      <dl class="figure-row">
        {totalRows(stats).map(([label, errors, occurrences]) => (
          <div>
            <dt>{label}</dt>
            <dd>
              <strong>{formatCount(errors)}</strong>
              {occurrences !== undefined && <small>{` ${formatCount(occurrences)} occurrences`}</small>}
            </dd>
          </div>
        ))}
      </dl>
      <div class="columns">
        <div>
          <h3>Top error types, by occurrences</h3>
          <ShareBars
            title="Top error types, by occurrences"
            heading="Type"
            rows={stats.top_errors.map(({ error_type, count }) => ({
              label: error_type,
              value: count,
              href: href(visit, '/errors', { error_type }),
            }))}
          />
        </div>
        <div>
          <h3>Errors by platform</h3>
          <ShareBars
            title="Errors by platform"
            heading="Platform"
            rows={Object.entries(stats.errors_by_platform)
              .slice(0, MAX_LISTED_PLATFORMS)
              .map(([platform, count]) => ({
                label: platform,
                value: count,
                href: href(visit, '/errors', { platform }),
              }))}
          />
        </div>
      </div>
    </section>
  )
}

type Row = readonly [label: string, errors: number, occurrences?: number]

function totalRows(stats: DashboardStats): Row[] {
  return [
    ['Total', stats.total_errors, stats.total_occurrences],
    ['Seen today', stats.errors_today, stats.occurrences_today],
    ['Last 7 days', stats.errors_last_7_days, stats.occurrences_last_7_days],
    ['Last 30 days', stats.errors_last_30_days, stats.occurrences_last_30_days],
    ['Resolved', stats.resolved_count],
    ['Unresolved', stats.unresolved_count],
  ]
}
