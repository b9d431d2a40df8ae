import type { UserErrors } from '../../../analytics/correlation/top-users.js'
import type { ImpactedError } from '../../../analytics/trends/user-impact.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { ErrorLink } from '../../ui/error-link.js'
import { Insight, InsightTable } from '../../ui/insight.js'
import { formatCount, Time } from '../../ui/time.js'

/** Errors by affected users, and users by errors. */
export function UserFigures({
  users,
  impact,
  visit,
}: {
  users: readonly UserErrors[]
  impact: readonly ImpactedError[]
  visit: Visit
}): Rendered {
  return (
    <div class="columns">
      <Insight title="User impact" description="Errors by number of affected users.">
        {impact.length === 0 ? (
          <NoUsers />
        ) : (
          <InsightTable
            title="Errors by affected users"
            rows={impact}
            columns={[
              { name: 'Error', cell: (error) => <ErrorLink error={error} visit={visit} /> },
              { name: 'Users', number: true, cell: ({ user_count }) => formatCount(user_count) },
            ]}
          />
        )}
      </Insight>
      <Insight title="Most affected users" description="Users by number of distinct errors.">
        {users.length === 0 ? <NoUsers /> : <UserTable users={users} visit={visit} />}
      </Insight>
    </div>
  )
}

/** Users with their errors, linked to the list. */
export function UserTable({ users, visit }: { users: readonly UserErrors[]; visit: Visit }): Rendered {
  return (
    <InsightTable
      title="Users by errors"
      rows={users}
      columns={[
        { name: 'User', cell: ({ user_id }) => <a href={href(visit, '/errors', { user_id })}>{user_id}</a> },
        { name: 'Errors', number: true, cell: ({ error_count }) => formatCount(error_count) },
        { name: 'Occurrences', number: true, cell: ({ occurrences }) => formatCount(occurrences) },
        { name: 'Last seen', number: true, cell: ({ last_seen_at }) => <Time iso={last_seen_at} visit={visit} /> },
      ]}
    />
  )
}

export function NoUsers(): Rendered {
  return (
    <p class="muted">
      No user data. Set <code>user_callback</code>, or call <code>Tracker.setUser(id)</code> in the request.
    </p>
  )
}
