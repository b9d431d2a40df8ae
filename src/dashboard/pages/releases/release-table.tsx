import type { ListedRelease } from '../../../analytics/releases/release-list.js'
import { STABILITY_SCALE, stabilityFormula } from '../../../analytics/stability-score.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { formatIdentifier } from '../../ui/badges.js'
import { Sparkline } from '../../ui/charts/charts.js'
import { Insight, InsightTable } from '../../ui/insight.js'
import { ReleaseLink, releaseParameters, releasePath } from '../../ui/release-link.js'
import { formatCount, Time } from '../../ui/time.js'
import { MIN_PERCENT_SAMPLES, sharePercent } from '../../ui/units.js'
import { isRecentRelease } from './release-changes.js'

/** Releases, newest first. Each figure links to its errors. */
export function ReleaseTable({
  releases,
  trend_days,
  visit,
  children,
}: {
  releases: readonly ListedRelease[]
  trend_days: number
  visit: Visit
  children?: Rendered
}): Rendered {
  return (
    <Insight
      title="Versions"
      description={`Versions seen in the period, newest first. ${STABILITY_SCALE}`}
      explanation={`New, increased and gone compare with the previous release of the application. Gone errors are counted from one day after the first occurrence, because a recent release may not have triggered every error yet. Stability, from ${MIN_PERCENT_SAMPLES} occurrences on: ${stabilityFormula({ open: 'its new errors', growth: 'the occurrences per day of the previous release' })}`}
    >
      <InsightTable
        title="Releases"
        wide
        rows={releases}
        columns={[
          { name: 'Release', cell: (release) => <ReleaseLink release={release} visit={visit} /> },
          {
            name: 'Stability',
            cell: (release) => <Stability release={release} />,
          },
          { name: 'First seen', number: true, cell: ({ first_seen_at }) => <Time iso={first_seen_at} visit={visit} /> },
          { name: 'Occurrences', number: true, cell: (release) => <Occurrences release={release} visit={visit} /> },
          {
            name: trend_days === 1 ? 'Today' : `Last ${trend_days} days`,
            cell: ({ app_version, trend }) => (
              <Sparkline values={trend} label={`${app_version}, occurrences per day`} />
            ),
          },
          { name: 'New', number: true, cell: (release) => <Figure of="new" release={release} visit={visit} /> },
          {
            name: 'Regressed',
            number: true,
            cell: (release) => <Figure of="regressed" release={release} visit={visit} />,
          },
          { name: 'Increased', number: true, cell: (release) => <Figure of="worse" release={release} visit={visit} /> },
          {
            name: 'Gone',
            number: true,
            cell: (release) =>
              isRecentRelease(release, visit) ? (
                <span class="muted" title="Available one day after the first occurrence of the release">
                  –
                </span>
              ) : (
                <Figure of="gone" release={release} visit={visit} />
              ),
          },
        ]}
      />
      {children}
    </Insight>
  )
}

/** Omits the score of a release with few occurrences. */
function Stability({ release: { stability_score, status, occurrences } }: { release: ListedRelease }) {
  if (occurrences < MIN_PERCENT_SAMPLES) {
    return (
      <span class="muted" title={`Fewer than ${MIN_PERCENT_SAMPLES} occurrences in the period`}>
        –
      </span>
    )
  }
  return (
    <span class={`score score-${status}`}>
      <strong>{stability_score}</strong> {formatIdentifier(status)}
    </span>
  )
}

function Occurrences({ release, visit }: { release: ListedRelease; visit: Visit }) {
  return (
    <>
      <a href={href(visit, '/errors', releaseParameters(release, visit))}>{formatCount(release.occurrences)}</a>{' '}
      <span class="muted">{sharePercent(release.occurrences, release.share)}</span>
    </>
  )
}

/** Number of errors, linked to the matching section of the release. */
function Figure({
  of,
  release,
  visit,
}: {
  of: 'new' | 'regressed' | 'worse' | 'gone'
  release: ListedRelease
  visit: Visit
}) {
  const count = release[`${of}_count`]
  if (count === 0) return <span class="muted">0</span>
  return <a href={`${releasePath(release, visit)}#${of}`}>{formatCount(count)}</a>
}
