import { Burst, detectBursts } from '../../../analytics/patterns/pattern-detector.js'
import type { RecentBursts } from '../../../analytics/patterns/recent-bursts.js'
import * as r from '../../../model/result.js'
import type { Rendered, Visit } from '../../define.js'
import { ErrorLink } from '../../ui/error-link.js'
import { Explanation } from '../../ui/explanation.js'
import { Insight, RankingTable } from '../../ui/insight.js'
import { ExactTime, formatCount, Time } from '../../ui/time.js'
import { formatSeconds } from '../../ui/units.js'
import type { RelatedPart } from '../error/related/related-part.js'

const MAX_SHOWN_BURSTS = 5
const DAYS = 7
const DEFINITION = 'at least 5 occurrences of one error, at most 60 s apart'

export const burstsPart: RelatedPart<Burst[]> = {
  name: 'bursts',
  title: 'Bursts',
  response: r.list(Burst),
  async load(context, { id }) {
    const bursts = await detectBursts.run(context, { error_id: id, days: DAYS })
    return bursts.length > 0 ? bursts.slice(0, MAX_SHOWN_BURSTS) : null
  },
  view: (bursts, visit) => (
    <>
      <ul class="related">
        {bursts.map((burst) => (
          <li>
            <Time iso={burst.started_at} visit={visit} />
            <p class="evidence">{`${occurrencesText(burst)} in ${formatLength(burst)}, ${perMinute(burst)} per minute`}</p>
          </li>
        ))}
      </ul>
      <Explanation>{`Newest bursts of the last ${DAYS} days. A burst is ${DEFINITION}. Counts are lower bounds if not all occurrences are stored.`}</Explanation>
    </>
  ),
}

/** Newest bursts of all errors. */
export function NewestBursts({ found, visit }: { found: RecentBursts; visit: Visit }): Rendered {
  const { bursts, since, is_lower_bound } = found
  return (
    <Insight
      title="Bursts"
      count={bursts.length}
      description={
        <>
          {'Newest bursts of a single error '}
          {is_lower_bound ? (
            <>
              {'since '}
              <ExactTime iso={since} visit={visit} />
              {' (search limit).'}
            </>
          ) : (
            'in the period.'
          )}
        </>
      }
      explanation={`A burst is ${DEFINITION}. If not all occurrences are stored, the count is a range: from the stored occurrences to the total of those hours.`}
    >
      {bursts.length === 0 ? (
        <p class="muted">No bursts found.</p>
      ) : (
        <RankingTable
          title="Bursts"
          rows={bursts}
          columns={[
            { name: 'Error', cell: ({ error }) => <ErrorLink error={error} visit={visit} /> },
            {
              name: 'Started',
              number: true,
              cell: ({ started_at }) => <Time iso={started_at} visit={visit} />,
            },
            { name: 'Occurrences', number: true, cell: (burst) => countRange(burst) },
            { name: 'Duration', number: true, cell: (burst) => formatLength(burst) },
            { name: 'Per minute', number: true, cell: (burst) => perMinute(burst) },
          ]}
        />
      )}
    </Insight>
  )
}

function occurrencesText({ occurrence_count, is_lower_bound, occurrences_in_hours }: Burst): string {
  if (!is_lower_bound) return `${formatCount(occurrence_count)} occurrences`
  return `at least ${formatCount(occurrence_count)} occurrences (${formatCount(occurrences_in_hours)} in those hours)`
}

function countRange({ occurrence_count, is_lower_bound, occurrences_in_hours }: Burst): string {
  return is_lower_bound
    ? `${formatCount(occurrence_count)} to ${formatCount(occurrences_in_hours)}`
    : formatCount(occurrence_count)
}

function formatLength({ duration_seconds }: Burst): string {
  return duration_seconds < 1 ? '1 s' : formatSeconds(duration_seconds)
}

function perMinute({ per_minute, is_lower_bound }: Burst): string {
  const count = formatCount(per_minute < 10 ? Math.round(per_minute * 10) / 10 : Math.round(per_minute))
  return is_lower_bound ? `${count}+` : count
}
