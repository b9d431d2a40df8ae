import type { ChangedError, ReleaseChanges } from '../../analytics/release-changes.js'
import type { VersionFigures } from '../../analytics/version-errors.js'
import type { Rendered, Visit } from '../define.js'
import { href, sameWith } from '../href.js'
import { ErrorLink } from './error-link.js'
import { Insight, InsightTable } from './insight.js'
import { formatShare } from './measures.js'
import { SeverityMix } from './severity-mix.js'
import { formatCount, Time } from './time.js'

/** The versions beside each other, and what one of them brought. */
export function Releases({
  versions,
  changes,
  wanted,
  visit,
}: {
  versions: readonly VersionFigures[]
  changes: ReleaseChanges | null
  wanted: string | undefined
  visit: Visit
}): Rendered {
  return (
    <>
      <Insight
        title="Versions"
        how="Versions that reported in the period, newest first by first sight. Per day: over the days from a version’s first to its last occurrence in the period. A version leads to what it brought."
      >
        {versions.length === 0 ? <NoVersions /> : <VersionTable versions={versions} visit={visit} />}
      </Insight>
      {(changes || wanted) && <Changes changes={changes} wanted={wanted} visit={visit} />}
    </>
  )
}

function VersionTable({ versions, visit }: { versions: readonly VersionFigures[]; visit: Visit }) {
  return (
    <InsightTable
      title="Versions"
      rows={versions}
      columns={[
        {
          name: 'Version',
          cell: ({ app_version, application_id }) => (
            <>
              <a href={`${sameWith(visit, { app_version })}#release`}>{app_version}</a>
              <ApplicationNote application_id={application_id} visit={visit} />
            </>
          ),
        },
        { name: 'First seen', number: true, cell: ({ first_seen_at }) => <Time iso={first_seen_at} visit={visit} /> },
        { name: 'Occurrences', number: true, cell: ({ occurrences }) => formatCount(occurrences) },
        { name: 'Share', number: true, cell: ({ share }) => formatShare(share) },
        { name: 'Per day', number: true, cell: ({ per_day }) => formatCount(Math.round(per_day * 10) / 10) },
        { name: 'New errors', number: true, cell: ({ new_error_count }) => formatCount(new_error_count) },
        { name: 'Severities', cell: ({ severities }) => <SeverityMix counts={severities} /> },
      ]}
    />
  )
}

function Changes({
  changes,
  wanted,
  visit,
}: {
  changes: ReleaseChanges | null
  wanted: string | undefined
  visit: Visit
}) {
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
      title={`Release ${app_version}${nameOf(changes.application_id, visit)}`}
      how={
        <>
          {`Against ${before_version === null ? 'nothing: no version was seen before it' : `${before_version}, the version first seen before it`}. First seen `}
          <Time iso={changes.first_seen_at} visit={visit} />
          {'. Worse: at least 5 times, and twice as often a day as before. '}
          <a href={href(visit, '/errors', { app_version })}>Errors last seen in this version</a>
        </>
      }
    >
      <VersionForm changes={changes} visit={visit} />
      <div class="columns">
        <ChangeList
          title="New"
          count={changes.new_count}
          errors={changes.new_errors}
          empty="No error was first seen in this release."
          visit={visit}
        />
        <ChangeList
          title="Worse"
          count={changes.worse_count}
          errors={changes.worse_errors}
          empty={`No error occurs much more often than in ${before}.`}
          visit={visit}
        />
        <ChangeList
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

function VersionForm({ changes: { app_version, versions }, visit }: { changes: ReleaseChanges; visit: Visit }) {
  if (versions.length < 2) return null
  const others = [...visit.query].filter(([name]) => name !== 'app_version')
  return (
    <form class="range-form" action={`${visit.base}${visit.path}#release`}>
      {others.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <select name="app_version" aria-label="Release">
        {versions.map((version) => (
          <option value={version} selected={version === app_version}>
            {version}
          </option>
        ))}
      </select>
      <button type="submit">Show release</button>
    </form>
  )
}

function ChangeList({
  title,
  count,
  errors,
  empty,
  visit,
}: {
  title: string
  count: number
  errors: readonly ChangedError[]
  empty: string
  visit: Visit
}) {
  return (
    <div>
      <h3 class="section-title">
        {title} <span class="count">{formatCount(count)}</span>
      </h3>
      {errors.length === 0 ? (
        <p class="muted">{empty}</p>
      ) : (
        <ul class="changes">
          {errors.map((error) => (
            <li>
              <ErrorLink error={error} visit={visit} />
              <span class="meta muted">{`${formatCount(error.before_count)} → ${formatCount(error.count)}`}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** Whose version it is, where several applications are looked at. */
export function ApplicationNote({ application_id, visit }: { application_id: number; visit: Visit }): Rendered {
  const name = nameOf(application_id, visit)
  return name && <span class="muted">{name}</span>
}

function nameOf(application_id: number, { applications, application_id: chosen }: Visit): string {
  if (chosen !== null || applications.length < 2) return ''
  const name = applications.find(({ id }) => id === application_id)?.name
  return name ? ` of ${name}` : ''
}

export function NoVersions(): Rendered {
  return (
    <p class="muted">
      No occurrence named a version. Set <code>app_version</code>, or let it be found in your <code>package.json</code>.
    </p>
  )
}
