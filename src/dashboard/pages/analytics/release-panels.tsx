import type { ReleaseChanges as Changes } from '../../../analytics/releases/release-changes.js'
import { MOST_VERSIONS, type VersionFigures } from '../../../analytics/releases/version-errors.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../href.js'
import { Insight, InsightTable } from '../../ui/insight.js'
import { SeverityMix } from '../../ui/severity-mix.js'
import { formatCount, Time } from '../../ui/time.js'
import { formatShare } from '../../ui/units.js'
import { ReleaseChanges } from '../releases/release-changes.js'
import { ReleaseLink } from '../releases/release-link.js'

/** The versions beside each other, and what one of them brought. */
export function Releases({
  versions,
  changes,
  wanted,
  visit,
}: {
  versions: readonly VersionFigures[]
  changes: Changes | null
  wanted: string | undefined
  visit: Visit
}): Rendered {
  return (
    <>
      <Insight
        title="Versions"
        how="Versions that reported in the period, the newest release first. Per day: over the days from a version’s first to its last occurrence in the period. A version leads to what it brought."
      >
        {versions.length === 0 ? <NoVersions /> : <VersionTable versions={versions} visit={visit} />}
        <OlderVersions versions={versions} visit={visit} />
      </Insight>
      {(changes || wanted) && (
        <ReleaseChanges changes={changes} wanted={wanted} visit={visit}>
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
      rows={versions.slice(0, SHOWN_VERSIONS)}
      columns={[
        {
          name: 'Version',
          cell: (release) => <ReleaseLink release={release} visit={visit} />,
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

function VersionForm({ changes: { app_version, versions }, visit }: { changes: Changes; visit: Visit }) {
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

/** A page of many things shows so many versions; the page of the releases has them all. */
export const SHOWN_VERSIONS = 20

/** How many versions are not shown, and where they are. */
export function OlderVersions({ versions, visit }: { versions: readonly unknown[]; visit: Visit }): Rendered {
  const older = versions.length - SHOWN_VERSIONS
  if (older <= 0) return null
  return (
    <p class="how">
      {'and '}
      <a href={href(visit, '/releases', { days: visit.query.get('days') })}>
        {`${formatCount(older, versions.length >= MOST_VERSIONS)} older`}
      </a>
    </p>
  )
}

export function NoVersions(): Rendered {
  return (
    <p class="muted">
      No occurrence named a version. Set <code>app_version</code>, or let it be found in your <code>package.json</code>.
    </p>
  )
}
