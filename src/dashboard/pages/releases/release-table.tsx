import type { ListedRelease } from '../../../analytics/releases/release-list.js'
import { STABILITY_SCALE, stabilityFormula, stabilityText } from '../../../analytics/stability-score.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { Sparkline } from '../../ui/charts/charts.js'
import { severeCount, severeText } from '../../ui/charts/severity-mix.js'
import { type Column, Insight, InsightTable } from '../../ui/insight.js'
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
      description="Versions seen in the period, newest first."
      explanation={`New, increased and gone compare with the previous release of the application. Gone errors are counted from one day after the first occurrence, because a recent release may not have triggered every error yet. The tooltip of the share of critical and high occurrences contains the stability, from ${MIN_PERCENT_SAMPLES} occurrences on: ${STABILITY_SCALE} ${stabilityFormula({ open: 'its new errors', growth: 'the occurrences per day of the previous release' })}`}
    >
      <InsightTable
        title="Releases"
        wide
        rows={releases}
        columns={[
          { name: 'Release', cell: (release) => <ReleaseLink release={release} visit={visit} /> },
          {
            name: 'Critical or high',
            shortName: 'Severe',
            number: true,
            compact: 'chip',
            isBlank: ({ severities }) => severeCount(severities) === 0,
            cell: (release) => <SevereShare release={release} />,
          },
          {
            name: 'First seen',
            number: true,
            compact: 'aside',
            cell: ({ first_seen_at }) => <Time iso={first_seen_at} visit={visit} />,
          },
          { name: 'Occurrences', number: true, cell: (release) => <Occurrences release={release} visit={visit} /> },
          {
            name: trend_days === 1 ? 'Today' : `Last ${trend_days} days`,
            compact: 'plain',
            cell: ({ app_version, trend }) => (
              <Sparkline values={trend} label={`${app_version}, occurrences per day`} />
            ),
          },
          figureColumn('New', 'new', visit),
          figureColumn('Regressed', 'regressed', visit),
          figureColumn('Increased', 'worse', visit),
          {
            ...figureColumn('Gone', 'gone', visit),
            isBlank: (release) => release.gone_count === 0 || isRecentRelease(release, visit),
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

type FigureName = 'new' | 'regressed' | 'worse' | 'gone'

function figureColumn(name: string, of: FigureName, visit: Visit): Column<ListedRelease> {
  return {
    name,
    number: true,
    compact: 'chip',
    isBlank: (release) => release[`${of}_count`] === 0,
    cell: (release) => <Figure of={of} release={release} visit={visit} />,
  }
}

/** Share of critical and high occurrences. The tooltip contains the score, unless the release has few occurrences. */
function SevereShare({ release: { severities, stability_score, status, occurrences } }: { release: ListedRelease }) {
  const hasScore = occurrences >= MIN_PERCENT_SAMPLES
  const title = hasScore ? stabilityText(stability_score, status) : undefined
  return <span title={title}>{severeText(severities)}</span>
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
function Figure({ of, release, visit }: { of: FigureName; release: ListedRelease; visit: Visit }) {
  const count = release[`${of}_count`]
  if (count === 0) return <span class="muted">0</span>
  return <a href={`${releasePath(release, visit)}#${of}`}>{formatCount(count)}</a>
}
