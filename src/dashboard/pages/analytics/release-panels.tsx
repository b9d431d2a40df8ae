import type { ReleaseChanges as Changes } from '../../../analytics/releases/release-changes.js'
import { MAX_VERSIONS, type VersionFigures } from '../../../analytics/releases/version-errors.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { SeverityMix } from '../../ui/charts/severity-mix.js'
import { Insight, InsightTable } from '../../ui/insight.js'
import { formatCount, Time } from '../../ui/time.js'
import { sharePercent } from '../../ui/units.js'
import { ReleaseChanges } from '../releases/release-changes.js'
import { ReleaseLink } from '../releases/release-link.js'

/** Versions of the period, and the changes of the selected release. */
export function Releases({
  versions,
  changes,
  requestedVersion,
  visit,
}: {
  versions: readonly VersionFigures[]
  changes: Changes | null
  requestedVersion: string | undefined
  visit: Visit
}): Rendered {
  return (
    <>
      <Insight
        title="Versions"
        description="Versions seen in the period, newest first. Per day: between the first and last occurrence of the version in the period."
      >
        {versions.length === 0 ? <NoVersions /> : <VersionTable versions={versions} visit={visit} />}
        <OlderVersions versions={versions} visit={visit} />
      </Insight>
      {(changes || requestedVersion) && (
        <ReleaseChanges changes={changes} requestedVersion={requestedVersion} visit={visit}>
          {changes && <VersionForm changes={changes} visit={visit} />}
        </ReleaseChanges>
      )}
    </>
  )
}

function VersionTable({ versions, visit }: { versions: readonly VersionFigures[]; visit: Visit }) {
  return (
    <InsightTable
      title="Versions"
      rows={versions.slice(0, MAX_SHOWN_VERSIONS)}
      columns={[
        {
          name: 'Version',
          cell: (release) => <ReleaseLink release={release} visit={visit} />,
        },
        { name: 'First seen', number: true, cell: ({ first_seen_at }) => <Time iso={first_seen_at} visit={visit} /> },
        { name: 'Occurrences', number: true, cell: ({ occurrences }) => formatCount(occurrences) },
        { name: 'Share', number: true, cell: ({ occurrences, share }) => sharePercent(occurrences, share) ?? '–' },
        { name: 'Per day', number: true, cell: ({ per_day }) => formatCount(Math.round(per_day * 10) / 10) },
        { name: 'New errors', number: true, cell: ({ new_error_count }) => formatCount(new_error_count) },
        { name: 'Severities', cell: ({ severities }) => <SeverityMix counts={severities} /> },
      ]}
    />
  )
}

function VersionForm({ changes: { app_version, versions }, visit }: { changes: Changes; visit: Visit }) {
  if (versions.length < 2) return null
  const otherParameters = [...visit.query].filter(([name]) => name !== 'app_version')
  return (
    <form class="range-form" action={`${visit.base}${visit.path}#release`}>
      {otherParameters.map(([name, value]) => (
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

/** The releases page lists all versions. */
export const MAX_SHOWN_VERSIONS = 20

/** Link to the versions that are not listed. */
export function OlderVersions({ versions, visit }: { versions: readonly unknown[]; visit: Visit }): Rendered {
  const older = versions.length - MAX_SHOWN_VERSIONS
  if (older <= 0) return null
  return (
    <p class="description">
      {'and '}
      <a href={href(visit, '/releases', { days: visit.query.get('days') })}>
        {`${formatCount(older, versions.length >= MAX_VERSIONS)} older`}
      </a>
    </p>
  )
}

export function NoVersions(): Rendered {
  return (
    <p class="muted">
      No version data. Set <code>app_version</code>, or <code>version</code> in your <code>package.json</code>.
    </p>
  )
}
