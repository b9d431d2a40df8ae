import type { Overview } from '../../../analytics/overview/overview.js'
import { HOUR } from '../../../model/time.js'
import type { Rendered, Visit } from '../../define.js'
import { href, openErrorsLink } from '../../links/href.js'
import { Figure } from '../../ui/figures.js'
import { formatCount } from '../../ui/time.js'
import { formatDuration } from '../../ui/units.js'

/** Key figures, each compared with the previous period. */
export function OverviewFigures({ data, visit }: { data: Overview; visit: Visit }): Rendered {
  const { stats, today, unresolved, affected_users, time_to_resolve } = data
  const daily = data.days.slice(-14).map(({ total }) => total)
  return (
    <dl class="figures">
      <Figure
        label="Occurrences today"
        value={formatCount(today.occurrences)}
        href={href(visit, '/errors', { timeframe: 'today' })}
        note={`${plural(stats.errors_today, 'error')} · ${formatCount(today.before)} by this time yesterday`}
        change={{ now: today.occurrences, before: today.before, period: 'by this time yesterday', format: formatCount }}
        trend={{ values: daily, label: 'Daily occurrences, last 14 days' }}
      />
      <Figure
        label="Unresolved"
        value={formatCount(unresolved.count)}
        href={openErrorsLink(visit)}
        note={`${formatCount(unresolved.opened)} opened, ${formatCount(unresolved.closed)} closed in 7 days`}
        change={{
          now: unresolved.count,
          before: unresolved.count - unresolved.opened + unresolved.closed,
          period: 'unresolved 7 days ago',
          format: formatCount,
        }}
        trend={{ values: unresolved.daily, label: 'Unresolved errors by day, last 14 days' }}
      />
      <Figure
        label="Affected users"
        value={`${formatCount(affected_users.count)}${affected_users.is_lower_bound ? '+' : ''}`}
        note={usersNote(data)}
        change={{
          now: affected_users.count,
          before: affected_users.before,
          period: 'in the previous 7 days',
          format: formatCount,
        }}
        {...(affected_users.daily.length === 0
          ? {}
          : { trend: { values: affected_users.daily, label: 'Affected users by day, last 7 days' } })}
      />
      <Figure
        label="Time to resolve"
        value={formatDuration(time_to_resolve.median_ms)}
        note={resolveNote(data)}
        {...(time_to_resolve.median_ms === null ? {} : resolveTrend(time_to_resolve.median_ms, data))}
      />
    </dl>
  )
}

function resolveTrend(now: number, { time_to_resolve: { before, weekly_mean_ms } }: Overview) {
  return {
    change: { now, before: before.median_ms, period: 'in the previous 30 days', format: formatDuration },
    trend: {
      values: weekly_mean_ms.map((ms) => Math.round(ms / HOUR)),
      label: 'Mean hours to resolve by week, last 8 weeks',
    },
  }
}

function usersNote({ affected_users: { before, is_lower_bound } }: Overview): string {
  if (is_lower_bound) return 'last 7 days (lower bound)'
  return `last 7 days · ${formatCount(before ?? 0)} in the previous 7 days`
}

function resolveNote({ time_to_resolve: { count, mean_ms } }: Overview): string {
  if (count === 0) return 'none resolved in 30 days'
  return `median of ${formatCount(count)} in 30 days · mean ${formatDuration(mean_ms)}`
}

function plural(count: number, word: string): string {
  return `${formatCount(count)} ${word}${count === 1 ? '' : 's'}`
}
