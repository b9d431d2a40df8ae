import type { RankedError } from '../../../analytics/ranked-errors.js'
import type { ChangedError, ReleaseChanges as Changes } from '../../../analytics/releases/release-changes.js'
import { MIN_OCCURRENCES, WORSE_RATIO } from '../../../analytics/releases/release-counts.js'
import { DAY } from '../../../model/time.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { ErrorLink } from '../../ui/error-link.js'
import { Insight } from '../../ui/insight.js'
import { applicationNote, releaseParameters } from '../../ui/release-link.js'
import { formatCount, Time } from '../../ui/time.js'

export function releaseTitle(changes: Changes, visit: Visit): string {
  return `Release ${changes.app_version}${applicationNote(changes, visit)}`
}

export function ReleaseAge({ changes, visit }: { changes: Changes; visit: Visit }): Rendered {
  return (
    <>
      {'First seen '}
      <Time iso={changes.first_seen_at} visit={visit} />
    </>
  )
}

/** Checks whether a release is too recent to call an error gone. Many errors occur less than once a day. */
export function isRecentRelease({ first_seen_at }: { first_seen_at: string }, { now }: Visit): boolean {
  return now - Date.parse(first_seen_at) < DAY
}

/** New, regressed, increased and gone errors of a release. */
export function ReleaseChanges({
  changes,
  requestedVersion,
  visit,
  children,
}: {
  changes: Changes | null
  requestedVersion: string | undefined
  visit: Visit
  children?: Rendered
}): Rendered {
  if (!changes) {
    return (
      <Insight id="release" title={`Release ${requestedVersion}`} description="Changes since the previous release.">
        <p class="muted">No errors with this version in the last year.</p>
      </Insight>
    )
  }
  const { before_version } = changes
  const isRecent = isRecentRelease(changes, visit)
  return (
    <Insight
      id="release"
      title="Changes"
      description={
        <>
          {`${before_version === null ? 'No earlier version to compare with' : `Compared with ${before_version}`}. Increased: at least ${MIN_OCCURRENCES} occurrences and ${WORSE_RATIO}× the daily rate of ${before_version ?? 'the previous release'}. Regressed: resolved in an earlier release and reopened. `}
          <a href={href(visit, '/errors', releaseParameters(changes, visit))}>All errors of this version</a>
        </>
      }
    >
      {children}
      <div class="release-parts">
        <ChangeList
          id="new"
          title="New"
          count={changes.new_count}
          errors={changes.new_errors}
          empty="No new errors."
          visit={visit}
        />
        <ChangeList
          id="regressed"
          title="Regressed"
          count={changes.regressed_count}
          errors={changes.regressed_errors}
          empty="No regressions."
          visit={visit}
        />
        <ChangeList
          id="worse"
          title="Increased"
          count={changes.worse_count}
          errors={changes.worse_errors}
          empty="No errors increased."
          visit={visit}
        />
        <ChangeList
          id="gone"
          title={isRecent ? 'Not seen yet' : 'Gone'}
          count={changes.gone_count}
          errors={changes.gone_errors}
          empty={isRecent ? 'All errors of the previous release were seen again.' : 'No errors disappeared.'}
          visit={visit}
        />
      </div>
    </Insight>
  )
}

/** Error with optional counts, because regressed errors have no count in the previous release. */
type Changed = RankedError & Partial<ChangedError>

const MAX_EXPANDED_ERRORS = 5

function ChangeList({
  id,
  title,
  count,
  errors,
  empty,
  visit,
}: {
  id: string
  title: string
  count: number
  errors: readonly Changed[]
  empty: string
  visit: Visit
}) {
  return (
    <div id={id}>
      <h3 class="section-title">
        {title} <span class="count">{formatCount(count)}</span>
      </h3>
      {errors.length === 0 && <p class="muted">{empty}</p>}
      <Errors errors={errors.slice(0, MAX_EXPANDED_ERRORS)} visit={visit} />
      {errors.length > MAX_EXPANDED_ERRORS && (
        <details>
          <summary>{`${formatCount(count - MAX_EXPANDED_ERRORS)} more`}</summary>
          <Errors errors={errors.slice(MAX_EXPANDED_ERRORS)} visit={visit} />
          {count > errors.length && (
            <p class="description">{`and ${formatCount(count - errors.length)} less frequent`}</p>
          )}
        </details>
      )}
    </div>
  )
}

function Errors({ errors, visit }: { errors: readonly Changed[]; visit: Visit }) {
  if (errors.length === 0) return null
  return (
    <ul class="changes">
      {errors.map((error) => (
        <li>
          <ErrorLink error={error} visit={visit} />
          {error.count !== undefined && (
            <span class="meta muted">{`${formatCount(error.before_count ?? 0)} → ${formatCount(error.count)}`}</span>
          )}
        </li>
      ))}
    </ul>
  )
}
