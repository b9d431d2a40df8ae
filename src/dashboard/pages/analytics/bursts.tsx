import { type Burst, detectBursts } from '../../../analytics/patterns/pattern-detector.js'
import type { RecentBursts } from '../../../analytics/patterns/recent-bursts.js'
import type { Rendered, Visit } from '../../define.js'
import { ErrorLink } from '../../ui/error-link.js'
import { How } from '../../ui/explanation.js'
import { Insight, InsightTable } from '../../ui/insight.js'
import { exactTime, formatCount, Time } from '../../ui/time.js'
import { formatSeconds } from '../../ui/units.js'
import type { RelatedPart } from '../error/related-part.js'

const SHOWN = 5
const DAYS = 7
const WHAT = 'at least 5 occurrences of one error, none more than 60 s after the one before'

/** When the error came one upon the other. */
export const burstsPart: RelatedPart<Burst[]> = {
  name: 'bursts',
  title: 'Bursts',
  async load(context, { id }) {
    const bursts = await detectBursts.run(context, { error_id: id, days: DAYS })
    return bursts.length > 0 ? bursts.slice(0, SHOWN) : null
  },
  view: (bursts, visit) => (
    <>
      <ul class="related">
        {bursts.map((burst) => (
          <li>
            <Time iso={burst.started_at} visit={visit} />
            <p class="evidence">{`${eventsIn(burst)} in ${lasted(burst)}, ${perMinute(burst)} a minute`}</p>
          </li>
        ))}
      </ul>
      <How>{`The newest of the last ${DAYS} days: ${WHAT}. Where not all occurrences are kept, it had at least as many.`}</How>
    </>
  ),
}

/** The newest bursts of any error. */
export function NewestBursts({ found, visit }: { found: RecentBursts; visit: Visit }): Rendered {
  const { bursts, since, is_bound } = found
  const reach = is_bound
    ? `since ${exactTime(since, visit.time_zone)}, as far back as occurrences are looked at`
    : 'in the period'
  return (
    <Insight
      title="Bursts"
      how={`The newest ${reach}: one error again and again, never more than a minute apart.`}
      method={`A burst: ${WHAT}. Where not all occurrences are kept, there were at least as many, and at most all of those hours.`}
    >
      {bursts.length === 0 ? (
        <p class="muted">Nothing came in a burst.</p>
      ) : (
        <InsightTable
          title="Bursts"
          rows={bursts}
          columns={[
            { name: 'Error', cell: ({ error }) => <ErrorLink error={error} visit={visit} /> },
            {
              name: 'Began',
              number: true,
              cell: ({ started_at }) => <Time iso={started_at} visit={visit} />,
            },
            { name: 'Events', number: true, cell: (burst) => countOf(burst) },
            { name: 'Lasted', number: true, cell: (burst) => lasted(burst) },
            { name: 'A minute', number: true, cell: (burst) => perMinute(burst) },
          ]}
        />
      )}
    </Insight>
  )
}

function eventsIn({ occurrence_count, is_bound, occurrences_in_hours }: Burst): string {
  if (!is_bound) return `${formatCount(occurrence_count)} events`
  return `at least ${formatCount(occurrence_count)} events (${formatCount(occurrences_in_hours)} in its hours)`
}

function countOf({ occurrence_count, is_bound, occurrences_in_hours }: Burst): string {
  return is_bound
    ? `${formatCount(occurrence_count)} to ${formatCount(occurrences_in_hours)}`
    : formatCount(occurrence_count)
}

function lasted({ duration_seconds }: Burst): string {
  return duration_seconds < 1 ? 'a second' : formatSeconds(duration_seconds)
}

function perMinute({ per_minute, is_bound }: Burst): string {
  const count = formatCount(per_minute < 10 ? Math.round(per_minute * 10) / 10 : Math.round(per_minute))
  return is_bound ? `${count}+` : count
}
