import type { AttentionList, Overview } from '../../../analytics/overview/overview.js'
import type { RankedError } from '../../../analytics/ranked-errors.js'
import type { Rendered, Visit } from '../../define.js'
import { openErrorsLink } from '../../links/href.js'
import { RegressionBadge, SeverityBadge } from '../../ui/badges.js'
import { formatCount, Time } from '../../ui/time.js'
import { Spikes } from '../analytics/spikes.js'
import { OverviewErrorLink } from './overview-error.js'

interface Group {
  title: string
  /** Condition of the group. */
  text: Rendered
  concern: AttentionList
  href: string
  time(error: RankedError): string
  /** Needed unless the time is that of the first or last occurrence. */
  timeLabel?: string
}

/** Open errors that need attention, grouped by reason. */
export function NeedsAttention({ data, visit }: { data: Overview; visit: Visit }): Rendered {
  const groups = attentionGroups(data, visit).filter(({ concern }) => concern.count > 0)
  const spikes = data.spiking ?? []
  return (
    <section class="card" aria-labelledby="needs-attention">
      <h2 id="needs-attention">Needs attention</h2>
      {groups.length === 0 && spikes.length === 0 ? (
        <p class="muted">
          All clear. No new errors since <Time iso={data.new_since} visit={visit} />, no regressions in the last 7 days
          {data.spiking !== null && ', no spikes'}, and all critical errors are assigned.
        </p>
      ) : (
        <div class="columns needs">
          {spikes.length > 0 && <Spikes spikes={spikes} visit={visit} />}
          {groups.map((group) => renderGroup(group, visit))}
        </div>
      )}
    </section>
  )
}

/** One-line summary for the page head. */
export function AttentionSummary({ data, visit }: { data: Overview; visit: Visit }): Rendered {
  const spiking = data.spiking?.length ?? 0
  const parts = [
    ...(spiking > 0 ? [`${formatCount(spiking)} spiking`] : []),
    ...attentionGroups(data, visit)
      .filter(({ concern }) => concern.count > 0)
      .map(({ title, concern }) => `${formatCount(concern.count, concern.is_lower_bound)} ${title.toLowerCase()}`),
  ]
  return parts.length === 0 ? 'All clear' : <a href="#needs-attention">{parts.join(', ')}</a>
}

const REGRESSED = 'Regressed'

function attentionGroups(data: Overview, visit: Visit): Group[] {
  const since = visit.last_visit_at === null ? 'in the last 24 hours' : 'since your last visit'
  return [
    {
      title: 'New',
      text: since,
      concern: data.new_errors,
      href: openErrorsLink(visit, { sort_by: 'first_seen_at' }),
      time: ({ first_seen_at }) => first_seen_at,
    },
    {
      title: REGRESSED,
      text: 'reopened in the last 7 days',
      concern: data.reopened,
      href: openErrorsLink(visit, { status: 'new' }),
      time: ({ reopened_at, occurred_at }) => reopened_at ?? occurred_at,
      timeLabel: 'regressed',
    },
    {
      title: 'Unassigned',
      text: 'critical or high',
      concern: data.unattended,
      href: openErrorsLink(visit, { assigned_to: '__unassigned__', sort_by: 'severity' }),
      time: ({ occurred_at }) => occurred_at,
    },
  ]
}

function renderGroup({ title, text, concern, href, time, timeLabel }: Group, visit: Visit): Rendered {
  const count = `${formatCount(concern.count)}${concern.is_lower_bound ? '+' : ''}`
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
              {title === REGRESSED && <RegressionBadge version={error.regressed_in_version} />}
            </span>
            <span class="concern-side">
              <SeverityBadge severity={error.severity} />
              <small>
                {timeLabel && `${timeLabel} `}
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
