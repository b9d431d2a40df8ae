import type { Attention, Overview } from '../../../analytics/overview/overview.js'
import type { RankedError } from '../../../analytics/ranked-errors.js'
import type { Rendered, Visit } from '../../define.js'
import { openErrors } from '../../href.js'
import { RegressionBadge, SeverityBadge } from '../../ui/badges.js'
import { formatCount, Time } from '../../ui/time.js'
import { Spikes } from '../analytics/spikes.js'
import { OverviewErrorLink } from './overview-error.js'

interface Group {
  title: string
  /** What brings an error here. */
  text: Rendered
  concern: Attention
  href: string
  time(error: RankedError): string
}

/** What is open and needs somebody, by why. */
export function NeedsYou({ data, visit }: { data: Overview; visit: Visit }): Rendered {
  const groups = groupsOf(data, visit).filter(({ concern }) => concern.count > 0)
  const spikes = data.spiking ?? []
  return (
    <section class="card" aria-labelledby="needs-you">
      <h2 id="needs-you">Needs you</h2>
      {groups.length === 0 && spikes.length === 0 ? (
        <p class="all-quiet">
          Nothing does. No error is new since <Time iso={data.new_since} visit={visit} />, none came back within a week,
          {data.spiking !== null && ' none comes more often than usual,'} and every critical one has somebody.
        </p>
      ) : (
        <div class="needs">
          {spikes.length > 0 && <Spikes spikes={spikes} visit={visit} />}
          {groups.map((group) => concernOf(group, visit))}
        </div>
      )}
    </section>
  )
}

/** The same in one line, for whoever sees only the head of the page. */
export function NeedsLine({ data, visit }: { data: Overview; visit: Visit }): Rendered {
  const spiking = data.spiking?.length ?? 0
  const parts = [
    ...(spiking > 0 ? [`${formatCount(spiking)} spiking`] : []),
    ...groupsOf(data, visit)
      .filter(({ concern }) => concern.count > 0)
      .map(({ title, concern }) => `${formatCount(concern.count, concern.is_bound)} ${title.toLowerCase()}`),
  ]
  return parts.length === 0 ? 'Nothing needs you' : <a href="#needs-you">{parts.join(', ')}</a>
}

const CAME_BACK = 'Came back'

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
      title: CAME_BACK,
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
  ]
}

function concernOf({ title, text, concern, href, time }: Group, visit: Visit): Rendered {
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
            <span class="concern-error">
              <OverviewErrorLink error={error} visit={visit} />
              {title === CAME_BACK && <RegressionBadge version={error.regressed_in_version} />}
            </span>
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
