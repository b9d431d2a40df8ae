import type { Overview } from '../../../analytics/overview/overview.js'
import type { Rendered, Visit } from '../../define.js'
import { SeverityBadge, StatusBadge } from '../../ui/badges.js'
import { formatCount, Time } from '../../ui/time.js'
import { OverviewErrorLink } from './overview-error.js'

/** Open errors with the most occurrences and affected users in the period. */
export function TopErrors({ data, visit }: { data: Overview; visit: Visit }): Rendered {
  return (
    <section class="card" aria-labelledby="top-errors">
      <h2 id="top-errors">Top errors by impact</h2>
      <p class="meta muted">Ranked by occurrences and affected users.</p>
      {data.top_by_impact.length === 0 ? (
        <p class="muted">No open errors in this period.</p>
      ) : (
        <table class="impact">
          <thead>
            <tr>
              <th scope="col">Error</th>
              <th scope="col" class="number">
                Occurrences
              </th>
              <th scope="col" class="number">
                Users
              </th>
              <th scope="col">Last seen</th>
              <th scope="col">Severity</th>
              <th scope="col">Assignee</th>
            </tr>
          </thead>
          <tbody>
            {data.top_by_impact.map((error) => (
              <tr>
                <td class="impact-error">
                  <OverviewErrorLink error={error} visit={visit} />
                </td>
                <td class="number">
                  {formatCount(error.occurrences)}
                  <span class="impact-unit">{error.occurrences === 1 ? ' occurrence' : ' occurrences'}</span>
                </td>
                <td class="number">
                  {`${formatCount(error.users)}${data.user_counts_are_lower_bounds ? '+' : ''}`}
                  <span class="impact-unit">{error.users === 1 ? ' user' : ' users'}</span>
                </td>
                <td>
                  <Time iso={error.occurred_at} visit={visit} />
                </td>
                <td>
                  <SeverityBadge severity={error.severity} />
                </td>
                <td>
                  {error.status !== 'new' && <StatusBadge status={error.status} />}{' '}
                  <small>{error.assigned_to ?? <span class="muted">unassigned</span>}</small>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
