import type { Attention, Overview, OverviewError } from '../../analytics/overview.js'
import type { Rendered, Visit } from '../define.js'
import { openErrors } from '../href.js'
import { SeverityBadge } from './badges.js'
import { OverviewErrorLink } from './overview-error.js'
import { formatCount, Time } from './time.js'

interface Group {
  title: string
  /** What brings an error here. */
  text: Rendered
  concern: Attention | null
  href: string
  time(error: OverviewError): string
}

/** What is open and needs somebody, by why. */
export function NeedsYou({ data, visit }: { data: Overview; visit: Visit }): Rendered {
  const groups = groupsOf(data, visit).filter(({ concern }) => concern !== null && concern.count > 0)
  return (
    <section class="card" aria-labelledby="needs-you">
      <h2 id="needs-you">Needs you</h2>
      {groups.length === 0 ? (
        <p class="all-quiet">
          Nothing does. No error is new since <Time iso={data.new_since} visit={visit} />, none came back within a week,
          and every critical one has somebody.
        </p>
      ) : (
        <div class="needs">{groups.map((group) => concernOf(group, visit))}</div>
      )}
    </section>
  )
}

function groupsOf(data: Overview, visit: Visit): Group[] {
  const since = visit.last_visit_at === null ? 'in the last 24 hours' : 'since your last visit'
  return [
    {
      title: 'New',
      text: since,
      concern: data.new_errors,
      href: openErrors(visit, { sort_by: 'first_seen_at' }),
      time: ({ first_seen_at }) => first_seen_at,
    },
    {
      title: 'Came back',
      text: 'resolved, and seen again within a week',
      concern: data.reopened,
      href: openErrors(visit, { status: 'new' }),
      time: ({ reopened_at, occurred_at }) => reopened_at ?? occurred_at,
    },
    {
      title: 'Unassigned',
      text: 'critical or high, and nobody has them',
      concern: data.unattended,
      href: openErrors(visit, { assigned_to: '__unassigned__', sort_by: 'severity' }),
      time: ({ occurred_at }) => occurred_at,
    },
    {
      title: 'Spiking',
      text: 'above their usual number',
      concern: data.spiking,
      href: openErrors(visit, { timeframe: 'last_hour' }),
      time: ({ occurred_at }) => occurred_at,
    },
  ]
}

function concernOf({ title, text, concern, href, time }: Group, visit: Visit): Rendered {
  if (!concern) return null
  const count = `${formatCount(concern.count)}${concern.is_bound ? '+' : ''}`
  return (
    <section class="concern">
      <h3>
        {title} <span class="count">{count}</span>
      </h3>
      <p class="meta muted">{text}</p>
      <ul>
        {concern.errors.map((error) => (
          <li>
            <OverviewErrorLink error={error} visit={visit} />
            <span class="concern-side">
              <SeverityBadge severity={error.severity} />
              <small>
                <Time iso={time(error)} visit={visit} />
              </small>
            </span>
          </li>
        ))}
      </ul>
      {concern.count > concern.errors.length && (
        <p class="meta">
          <a href={href}>{`All ${count}`}</a>
        </p>
      )}
    </section>
  )
}
