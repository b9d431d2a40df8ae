import type { RankedError } from '../../../analytics/ranked-errors.js'
import type { ChangedError, ReleaseChanges as Changes } from '../../../analytics/releases/release-changes.js'
import { LEAST_OCCURRENCES, WORSE } from '../../../analytics/releases/release-counts.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../href.js'
import { ErrorLink } from '../../ui/error-link.js'
import { Insight } from '../../ui/insight.js'
import { formatCount, Time } from '../../ui/time.js'
import { applicationNote, namedBy } from './release-link.js'

/** What a release brought against the one before it. */
export function ReleaseChanges({
  changes,
  wanted,
  visit,
  children,
}: {
  changes: Changes | null
  wanted: string | undefined
  visit: Visit
  children?: Rendered
}): Rendered {
  if (!changes) {
    return (
      <Insight id="release" title={`Release ${wanted}`} how="What a release brought against the release before it.">
        <p class="muted">No error of the last year came from this version.</p>
      </Insight>
    )
  }
  const { app_version, before_version } = changes
  const before = before_version ?? 'nothing'
  return (
    <Insight
      id="release"
      title={`Release ${app_version}${applicationNote(changes, visit)}`}
      how={
        <>
          {`Against ${before_version === null ? 'nothing: no version was seen before it' : `${before_version}, the version before it`}. First seen `}
          <Time iso={changes.first_seen_at} visit={visit} />
          {`. Worse: at least ${LEAST_OCCURRENCES} times, and ${WORSE} times as often a day as before. Came back: resolved in an older release, and open again. `}
          <a href={href(visit, '/errors', namedBy(changes, visit))}>All errors of this version</a>
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
          empty="No error was first seen in this release."
          visit={visit}
        />
        <ChangeList
          id="regressed"
          title="Came back"
          count={changes.regressed_count}
          errors={changes.regressed_errors}
          empty="No error that had been resolved came back in this release."
          visit={visit}
        />
        <ChangeList
          id="worse"
          title="Worse"
          count={changes.worse_count}
          errors={changes.worse_errors}
          empty={`No error occurs much more often than in ${before}.`}
          visit={visit}
        />
        <ChangeList
          id="gone"
          title="Gone"
          count={changes.gone_count}
          errors={changes.gone_errors}
          empty={`Everything seen in ${before} was seen again.`}
          visit={visit}
        />
      </div>
    </Insight>
  )
}

/** What came back is not counted against the release before. */
type Changed = RankedError & Partial<ChangedError>

const SHOWN = 5

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
      <Errors errors={errors.slice(0, SHOWN)} visit={visit} />
      {errors.length > SHOWN && (
        <details>
          <summary>{`${formatCount(count - SHOWN)} more`}</summary>
          <Errors errors={errors.slice(SHOWN)} visit={visit} />
          {count > errors.length && (
            <p class="how">{`and ${formatCount(count - errors.length)} that occurred no more often`}</p>
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
