import * as v from 'valibot'
import { type DashboardStats, dashboardStats } from '../../analytics/dashboard-stats.js'
import { id, optional } from '../../model/input.js'
import { perform } from '../../operation.js'
import type { ErrorSummary } from '../../triage/error-record.js'
import { firstErrors } from '../../triage/errors-list.js'
import { ErrorRows } from '../components/error-rows.js'
import { formatCount } from '../components/time.js'
import { definePage, type Visit } from '../define.js'

interface Overview {
  stats: DashboardStats
  newest: ErrorSummary[]
}

/** The numbers at a glance, and what needs somebody. */
export const overview = definePage({
  path: '/overview',
  text: 'High-level statistics',
  parameters: v.object({ application_id: optional(id()) }),
  async load(context, { application_id }): Promise<Overview> {
    return {
      stats: await perform(dashboardStats, context, { application_id }),
      newest: await firstErrors(context, { application_id, unresolved: true, hide_snoozed: true }, 10),
    }
  },
  title: () => 'Overview',
  json: ({ stats }) => stats,
  view: ({ stats, newest }, visit) => (
    <>
      <h1>Overview</h1>
      <dl class="figures">
        <Figure
          label="Errors today"
          value={stats.errors_today}
          note={`${formatCount(stats.occurrences_today)} occurrences`}
        />
        <Figure
          label="Last 7 days"
          value={stats.errors_last_7_days}
          note={`${formatCount(stats.occurrences_last_7_days)} occurrences`}
        />
        <Figure
          label="Last 30 days"
          value={stats.errors_last_30_days}
          note={`${formatCount(stats.occurrences_last_30_days)} occurrences`}
        />
        <Figure
          label="Unresolved"
          value={stats.unresolved_count}
          note={`${formatCount(stats.resolved_count)} resolved of ${formatCount(stats.total_errors)}`}
        />
      </dl>
      <section>
        <h2>Newest unresolved</h2>
        <ErrorRows errors={newest} visit={visit} empty="Nothing is unresolved." />
      </section>
      <div class="columns">
        <section>
          <h2>Top error types</h2>
          <Counts
            visit={visit}
            parameter="error_type"
            rows={stats.top_errors.map(({ error_type, count }) => [error_type, count])}
            unit="occurrences"
          />
        </section>
        <section>
          <h2>By platform</h2>
          <Counts visit={visit} parameter="platform" rows={Object.entries(stats.errors_by_platform)} unit="errors" />
        </section>
      </div>
    </>
  ),
})

function Figure({ label, value, note }: { label: string; value: number; note: string }) {
  return (
    <div class="figure">
      <dt>{label}</dt>
      <dd>
        <strong>{formatCount(value)}</strong>
        <small>{note}</small>
      </dd>
    </div>
  )
}

function Counts({
  visit,
  parameter,
  rows,
  unit,
}: {
  visit: Visit
  parameter: string
  rows: readonly (readonly [string, number])[]
  unit: string
}) {
  if (rows.length === 0) return <p class="empty">Nothing was recorded yet.</p>
  return (
    <table class="counts">
      <tbody>
        {rows.map(([name, count]) => (
          <tr>
            <th scope="row">
              <a href={`${visit.base}/errors?${new URLSearchParams({ [parameter]: name })}`}>{name}</a>
            </th>
            <td class="number">
              {formatCount(count)} <span class="muted">{unit}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
