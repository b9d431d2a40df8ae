import type { ImpactedError } from '../../../analytics/trends/user-impact.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { ErrorLink } from '../../ui/error-link.js'
import { Insight, RankingTable } from '../../ui/insight.js'
import { formatCount } from '../../ui/time.js'

/** Errors by affected users. */
export function UserImpact({ impact, visit }: { impact: readonly ImpactedError[]; visit: Visit }): Rendered {
  return (
    <Insight
      title="User impact"
      description={
        <>
          {'Errors by number of affected users. '}
          <a href={href(visit, '/errors/correlation', { days: visit.query.get('days') })}>Users with several errors</a>
        </>
      }
    >
      {impact.length === 0 ? (
        <NoUsers />
      ) : (
        <RankingTable
          title="Errors by affected users"
          rows={impact}
          columns={[
            { name: 'Error', cell: (error) => <ErrorLink error={error} visit={visit} /> },
            { name: 'Users', number: true, cell: ({ user_count }) => formatCount(user_count) },
          ]}
        />
      )}
    </Insight>
  )
}

function NoUsers(): Rendered {
  return (
    <p class="muted">
      No user data. Set <code>user_callback</code>, or call <code>Tracker.setUser(id)</code> in the request.
    </p>
  )
}
