import type { ErrorHistory } from '../../../triage/queries/error-history.js'
import type { ErrorUsers } from '../../../triage/queries/error-users.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { type Share, ShareBars } from '../../ui/charts/charts.js'
import { exactTime, namedTime } from '../../ui/time.js'
import { onlyItem, onlyUser } from './error-facts.js'

/** Top users, versions and platforms, each linked to its errors. The facts show a single value instead. */
export function ErrorShares({
  history,
  users,
  visit,
}: {
  history: ErrorHistory
  users: ErrorUsers
  visit: Visit
}): Rendered {
  const list = (filter: Record<string, string>) => href(visit, '/errors', filter)
  const isOld = history.days.every(({ count }) => count === 0)
  const period = isOld ? '30 days before it was last seen' : 'last 30 days'
  return (
    <div class="error-shares">
      <Shares
        title="Users"
        heading="User"
        note={users.scope === 'recent' ? 'newest occurrences only' : undefined}
        rows={(onlyUser(users) ? [] : users.users).map(({ user_id, count, last_seen_at }) => ({
          label: (
            <bdi
              title={`last seen ${exactTime(last_seen_at, visit.time_zone)}`}
              data-named-time={namedTime(last_seen_at, visit)}
            >
              {user_id}
            </bdi>
          ),
          href: list({ user_id }),
          value: count,
        }))}
      />
      <Shares
        title="Versions"
        heading="Version"
        note={period}
        rows={several(history.app_versions).map(({ app_version, count }) =>
          app_version === null
            ? { label: 'unknown', value: count }
            : { label: app_version, href: list({ app_version }), value: count },
        )}
      />
      <Shares
        title="Platforms"
        heading="Platform"
        note={period}
        rows={several(history.platforms).map(({ platform, count }) => ({
          label: platform,
          href: list({ platform }),
          value: count,
        }))}
      />
    </div>
  )
}

/** Empty for a single value, which the facts show. */
function several<Item>(items: readonly Item[]): readonly Item[] {
  return onlyItem(items) ? [] : items
}

/** Short, because the comments follow on a phone. */
const MAX_OPEN_ROWS = 5

function Shares({
  title,
  heading,
  note,
  rows,
}: {
  title: string
  heading: string
  note?: string | undefined
  rows: readonly Share[]
}): Rendered {
  if (rows.length === 0) return null
  return (
    <section class="panel">
      <div class="panel-head">
        <h2>{title}</h2>
        {note && <p class="meta muted">{note}</p>}
      </div>
      <ShareBars title={title} heading={heading} rows={rows.slice(0, MAX_OPEN_ROWS)} />
      {rows.length > MAX_OPEN_ROWS && (
        <details>
          <summary>{`Show ${rows.length - MAX_OPEN_ROWS} more`}</summary>
          <ShareBars title={`More ${title.toLowerCase()}`} rows={rows.slice(MAX_OPEN_ROWS)} max={rows[0]?.value} />
        </details>
      )}
    </section>
  )
}
