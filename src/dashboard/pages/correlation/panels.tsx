import {
  type CorrelatedTypes,
  MAX_COMPARED_TYPES,
  MAX_CORRELATED_PAIRS,
  MIN_CORRELATION,
  MIN_SHARED_HOURS,
} from '../../../analytics/correlation/time-correlation.js'
import type { UserErrors } from '../../../analytics/correlation/top-users.js'
import {
  MIN_NEW_ERRORS,
  MIN_OCCURRENCES,
  NEW_ERROR_RATIO,
  OCCURRENCE_RATIO,
  type ProblematicRelease,
  type ReleaseProblem,
  SEVERE_SHARE_INCREASE,
} from '../../../analytics/releases/problematic-releases.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { Insight, InsightTable } from '../../ui/insight.js'
import { ReleaseLink } from '../../ui/release-link.js'
import { formatCount, Time } from '../../ui/time.js'
import { samplePercent } from '../../ui/units.js'

/** Releases with more errors than the previous release. */
export function ProblematicReleases({
  releases,
  visit,
}: {
  releases: readonly ProblematicRelease[]
  visit: Visit
}): Rendered {
  return (
    <Insight
      title="Problematic releases"
      description={
        <>
          {'Releases first seen in the period with more errors than the previous release. '}
          <a href={href(visit, '/releases', { days: visit.query.get('days') })}>All releases</a>
        </>
      }
      explanation={`Compared over the lifetime of each release. Criteria: ${OCCURRENCE_RATIO}× the occurrences per day (at least ${MIN_OCCURRENCES}), ${SEVERE_SHARE_INCREASE * 100} percentage points more critical or high, or ${NEW_ERROR_RATIO}× the new errors (at least ${MIN_NEW_ERRORS}).`}
    >
      {releases.length === 0 ? (
        <p class="muted">No problematic releases.</p>
      ) : (
        <InsightTable
          title="Problematic releases"
          rows={releases}
          columns={[
            { name: 'Release', cell: (release) => <ReleaseLink release={release} visit={visit} /> },
            {
              name: 'First seen',
              number: true,
              compact: 'aside',
              cell: ({ first_seen_at }) => <Time iso={first_seen_at} visit={visit} />,
            },
            { name: 'Reason', cell: (release) => <Reasons release={release} /> },
            { name: 'Previous', cell: ({ before }) => before.app_version },
            { name: 'Occurrences', number: true, cell: ({ occurrences }) => formatCount(occurrences) },
          ]}
        />
      )}
    </Insight>
  )
}

const REASONS: Record<ReleaseProblem, (release: ProblematicRelease) => string> = {
  more_occurrences: ({ per_day, before }) =>
    `${formatRate(before.per_day)} → ${formatRate(per_day)} occurrences per day`,
  more_severe: (release) => `${severeShare(release.before)} → ${severeShare(release)} critical or high`,
  more_new_errors: ({ new_error_count, before }) =>
    `${formatCount(before.new_error_count)} → ${formatCount(new_error_count)} new errors`,
}

function severeShare({ severe_share, occurrences }: ProblematicRelease['before']): string {
  return (
    samplePercent(severe_share, occurrences) ??
    `${formatCount(Math.round(severe_share * occurrences))} of ${formatCount(occurrences)}`
  )
}

function Reasons({ release }: { release: ProblematicRelease }) {
  return (
    <ul>
      {release.reasons.map((reason) => (
        <li>{REASONS[reason](release)}</li>
      ))}
    </ul>
  )
}

function formatRate(per_day: number): string {
  return formatCount(Math.round(per_day * 10) / 10)
}

export function MultiErrorUsers({ users, visit }: { users: readonly UserErrors[]; visit: Visit }): Rendered {
  return (
    <Insight title="Users with several errors" description="Users affected by 2 or more errors.">
      {users.length === 0 ? (
        <p class="muted">No user is affected by several errors.</p>
      ) : (
        <UserTable users={users} visit={visit} />
      )}
    </Insight>
  )
}

/** Users with their error counts, linked to the list. */
function UserTable({ users, visit }: { users: readonly UserErrors[]; visit: Visit }): Rendered {
  return (
    <InsightTable
      title="Users by errors"
      rows={users}
      columns={[
        { name: 'User', cell: ({ user_id }) => <a href={href(visit, '/errors', { user_id })}>{user_id}</a> },
        {
          name: 'Last seen',
          number: true,
          compact: 'aside',
          cell: ({ last_seen_at }) => <Time iso={last_seen_at} visit={visit} />,
        },
        { name: 'Errors', number: true, cell: ({ error_count }) => formatCount(error_count) },
        { name: 'Occurrences', number: true, cell: ({ occurrences }) => formatCount(occurrences) },
      ]}
    />
  )
}

/** Pairs of error types with correlated hourly counts. */
export function CorrelatedHours({ pairs, visit }: { pairs: readonly CorrelatedTypes[]; visit: Visit }): Rendered {
  return (
    <Insight
      title="Correlated error types"
      description={`Strongest ${MAX_CORRELATED_PAIRS} pairs among the ${MAX_COMPARED_TYPES} most frequent types, by hourly counts. 1 is a perfect match.`}
      explanation={`Pearson correlation of hourly counts over the period, at least ${MIN_CORRELATION} with at least ${MIN_SHARED_HOURS} shared hours.`}
    >
      {pairs.length === 0 ? (
        <p class="muted">No correlated error types.</p>
      ) : (
        <InsightTable
          title="Correlated error types"
          rows={pairs}
          columns={[
            {
              name: 'Types',
              cell: ({ error_types }) => (
                <ul>
                  {error_types.map((error_type) => (
                    <li>
                      <a href={href(visit, '/errors', { error_type })}>{error_type}</a>
                    </li>
                  ))}
                </ul>
              ),
            },
            { name: 'Coefficient', number: true, compact: 'chip', cell: ({ correlation }) => correlation.toFixed(2) },
            {
              name: 'Shared hours',
              number: true,
              compact: 'chip',
              cell: ({ shared_hours }) => formatCount(shared_hours),
            },
          ]}
        />
      )}
    </Insight>
  )
}
