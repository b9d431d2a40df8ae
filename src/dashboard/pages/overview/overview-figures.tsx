import type { Overview } from '../../../analytics/overview/overview.js'
import type { ChartRange } from '../../../model/chart-span.js'
import type { Timeframe } from '../../../model/time.js'
import type { Rendered, Visit } from '../../define.js'
import { href, openErrorsLink } from '../../links/href.js'
import { Figure } from '../../ui/figures.js'
import { formatCount } from '../../ui/time.js'
import { formatDuration, MIN_PERCENT_SAMPLES } from '../../ui/units.js'

/** Timeframe filters of the list that match a range. */
const TIMEFRAMES: Partial<Record<ChartRange, Timeframe>> = {
  '1h': 'last_hour',
  '7d': 'last_7_days',
  '30d': 'last_30_days',
  '90d': 'last_90_days',
}

const PREVIOUS_PERIOD = 'in the previous period'
const NO_PREVIOUS = 'no previous period to compare with'

/** Key figures of the period, each compared with the previous period of the same length. */
export function OverviewFigures({ data, visit }: { data: Overview; visit: Visit }): Rendered {
  const { period, occurrences, unresolved, affected_users, time_to_resolve } = data
  const unresolvedBefore = unresolved.count - unresolved.opened + unresolved.closed
  const timeframe = period.range && TIMEFRAMES[period.range]
  return (
    <dl class="figures">
      <Figure
        label="Occurrences"
        value={formatCount(occurrences.count)}
        href={timeframe ? href(visit, '/errors', { timeframe }) : undefined}
        note={occurrences.before === null ? NO_PREVIOUS : `${formatCount(occurrences.before)} ${PREVIOUS_PERIOD}`}
        change={{
          now: occurrences.count,
          before: occurrences.before,
          period: PREVIOUS_PERIOD,
          samples: Math.min(occurrences.count, occurrences.before ?? 0),
          format: formatCount,
        }}
      />
      <Figure
        label="Unresolved errors"
        value={formatCount(unresolved.count)}
        href={openErrorsLink(visit)}
        note={unresolvedNote(data)}
        change={{
          now: unresolved.count,
          // Without errors at the start, the note already contains the difference.
          before: unresolvedBefore === 0 ? null : unresolvedBefore,
          period: 'at the start of the period',
          // The difference is more useful than a percentage of the backlog.
          samples: 0,
          format: formatCount,
        }}
      />
      <Figure
        label="Affected users"
        value={formatCount(affected_users.count, affected_users.is_lower_bound)}
        note={usersNote(data)}
        change={{
          now: affected_users.count,
          before: affected_users.before,
          period: PREVIOUS_PERIOD,
          samples: Math.min(affected_users.count, affected_users.before ?? 0),
          format: formatCount,
        }}
      />
      <Figure
        label="Time to resolve"
        value={formatDuration(time_to_resolve.median_ms)}
        note={resolveNote(data)}
        change={resolveChange(data)}
      />
    </dl>
  )
}

/** Compares medians of enough errors only, because the median of a few errors changes by chance. */
function resolveChange({ time_to_resolve: { count, median_ms, before } }: Overview) {
  if (median_ms === null || !before) return undefined
  const samples = Math.min(count, before.count)
  if (samples < MIN_PERCENT_SAMPLES) return undefined
  return { now: median_ms, before: before.median_ms, period: PREVIOUS_PERIOD, samples, format: formatDuration }
}

/** Splits the count like the tabs Open and Snoozed of the list, to which the figure links. */
function unresolvedNote({ stats, unresolved: { count, snoozed, opened, closed } }: Overview): string {
  const parts =
    snoozed > 0
      ? `${formatCount(count - snoozed)} open, ${formatCount(snoozed)} snoozed`
      : `of ${formatCount(stats.total_errors)}`
  return `${parts} · ${formatCount(opened)} opened, ${formatCount(closed)} closed`
}

function usersNote({ affected_users: { before, is_lower_bound } }: Overview): string {
  if (is_lower_bound) return 'lower bound'
  return before === null ? NO_PREVIOUS : `${formatCount(before)} ${PREVIOUS_PERIOD}`
}

function resolveNote({ time_to_resolve: { count, mean_ms } }: Overview): string {
  if (count === 0) return 'none resolved'
  return `median of ${formatCount(count)} resolved · mean ${formatDuration(mean_ms)}`
}
