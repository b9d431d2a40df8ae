import {
  COMPARED_TYPES,
  type CorrelatedTypes,
  LEAST_CORRELATION,
  LEAST_SHARED_HOURS,
  MAX_CORRELATED_PAIRS,
} from '../../../analytics/correlation/time-correlation.js'
import type { UserErrors } from '../../../analytics/correlation/top-users.js'
import {
  LEAST_NEW_ERRORS,
  LEAST_OCCURRENCES,
  MORE_NEW_ERRORS,
  MORE_OCCURRENCES,
  MORE_SEVERE,
  type ProblematicRelease,
  type ReleaseProblem,
} from '../../../analytics/releases/problematic-releases.js'
import type { VersionErrors } from '../../../analytics/releases/version-errors.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../href.js'
import { Insight, InsightTable } from '../../ui/insight.js'
import { SeverityMix } from '../../ui/severity-mix.js'
import { formatCount, Time } from '../../ui/time.js'
import { formatShare } from '../../ui/units.js'
import { NoVersions, OlderVersions, SHOWN_VERSIONS } from '../analytics/release-panels.js'
import { NoUsers, UserTable } from '../analytics/user-figures.js'
import { ReleaseLink } from '../releases/release-link.js'

/** Releases that do worse than the one before them. */
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
      how="Releases first seen in the period that do worse than the release of the same application before."
      method={`Worse is one of these: at least ${MORE_OCCURRENCES} times the occurrences a day (from ${LEAST_OCCURRENCES} on), ${MORE_SEVERE * 100} points more of them critical or high, or ${MORE_NEW_ERRORS} times the new errors (from ${LEAST_NEW_ERRORS} on). Figures of the whole time for which a release reported.`}
    >
      {releases.length === 0 ? (
        <p class="muted">No release of this period does worse than the one before it.</p>
      ) : (
        <InsightTable
          title="Problematic releases"
          rows={releases}
          columns={[
            { name: 'Release', cell: (release) => <ReleaseLink release={release} visit={visit} /> },
            { name: 'Why', cell: (release) => <Reasons release={release} /> },
            { name: 'Before', cell: ({ before }) => before.app_version },
            { name: 'Occurrences', number: true, cell: ({ occurrences }) => formatCount(occurrences) },
            {
              name: 'First seen',
              number: true,
              cell: ({ first_seen_at }) => <Time iso={first_seen_at} visit={visit} />,
            },
          ]}
        />
      )}
    </Insight>
  )
}

const REASONS: Record<ReleaseProblem, (release: ProblematicRelease) => string> = {
  more_occurrences: ({ per_day, before }) => `${rate(before.per_day)} → ${rate(per_day)} occurrences a day`,
  more_severe: ({ severe_share, before }) =>
    `${formatShare(before.severe_share)} → ${formatShare(severe_share)} critical or high`,
  more_new_errors: ({ new_error_count, before }) =>
    `${formatCount(before.new_error_count)} → ${formatCount(new_error_count)} new errors`,
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

function rate(per_day: number): string {
  return formatCount(Math.round(per_day * 10) / 10)
}

/** The versions of the period beside each other. */
export function ErrorsByVersion({ versions, visit }: { versions: readonly VersionErrors[]; visit: Visit }): Rendered {
  return (
    <Insight
      title="Errors by version"
      how="Versions that reported in the period, the newest release first. Errors: distinct errors that occurred in the version. New: errors whose first occurrence ever was in it."
    >
      {versions.length === 0 ? (
        <NoVersions />
      ) : (
        <InsightTable
          title="Errors by version"
          rows={versions.slice(0, SHOWN_VERSIONS)}
          columns={[
            { name: 'Version', cell: (release) => <ReleaseLink release={release} visit={visit} /> },
            { name: 'Occurrences', number: true, cell: ({ occurrences }) => formatCount(occurrences) },
            { name: 'Share', number: true, cell: ({ share }) => formatShare(share) },
            { name: 'Per day', number: true, cell: ({ per_day }) => rate(per_day) },
            { name: 'Errors', number: true, cell: ({ error_count }) => formatCount(error_count) },
            { name: 'New', number: true, cell: ({ new_error_count }) => formatCount(new_error_count) },
            { name: 'Severities', cell: ({ severities }) => <SeverityMix counts={severities} /> },
            {
              name: 'First seen',
              number: true,
              cell: ({ first_seen_at }) => <Time iso={first_seen_at} visit={visit} />,
            },
          ]}
        />
      )}
      <OlderVersions versions={versions} visit={visit} />
    </Insight>
  )
}

export function MultiErrorUsers({ users, visit }: { users: readonly UserErrors[]; visit: Visit }): Rendered {
  return (
    <Insight
      title="Users with several errors"
      how="Users who met two distinct errors or more in the period. Occurrences are all of theirs of those errors."
    >
      {users.length === 0 ? <NoUsers /> : <UserTable users={users} visit={visit} />}
    </Insight>
  )
}

/** Types that rise and fall together. */
export function CorrelatedHours({ pairs, visit }: { pairs: readonly CorrelatedTypes[]; visit: Visit }): Rendered {
  return (
    <Insight
      title="Errors that come together"
      how={`The strongest ${MAX_CORRELATED_PAIRS} pairs among the ${COMPARED_TYPES} most frequent types whose counts rise and fall together, hour by hour. 1 is a perfect match.`}
      method={`Pearson’s coefficient of their counts per hour over all hours of the period, from ${LEAST_CORRELATION} on, with ${LEAST_SHARED_HOURS} shared hours or more.`}
    >
      {pairs.length === 0 ? (
        <p class="muted">No two of the most frequent types move together.</p>
      ) : (
        <InsightTable
          title="Types that move together"
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
            { name: 'Coefficient', number: true, cell: ({ correlation }) => correlation.toFixed(2) },
            { name: 'Shared hours', number: true, cell: ({ shared_hours }) => formatCount(shared_hours) },
          ]}
        />
      )}
    </Insight>
  )
}
