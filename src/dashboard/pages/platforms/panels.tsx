import type { CrossPlatformError } from '../../../analytics/platforms/cross-platform-errors.js'
import type { PlatformHealth } from '../../../analytics/platforms/platform-comparison.js'
import type { PlatformRate, PlatformStability } from '../../../analytics/platforms/platform-figures.js'
import { STABILITY_SCALE, stabilityFormula } from '../../../analytics/stability-score.js'
import { MAX_LISTED_PLATFORMS } from '../../../model/requests/platform.js'
import type { Rendered, Visit } from '../../define.js'
import { currentPageWith, href } from '../../links/href.js'
import { formatIdentifier, SeverityBadge, StatusBadge } from '../../ui/badges.js'
import { Sparkline } from '../../ui/charts/charts.js'
import { SeverityMix, severeText } from '../../ui/charts/severity-mix.js'
import { ErrorLink } from '../../ui/error-link.js'
import { Explanation } from '../../ui/explanation.js'
import { type Column, Insight, InsightTable } from '../../ui/insight.js'
import { formatCount } from '../../ui/time.js'
import { formatDuration, samplePercent, sharePercent } from '../../ui/units.js'

const MAX_SHOWN_ERRORS = 10

/** One card per platform with its share of severe occurrences, trend and figures. */
export function PlatformCards({
  rates,
  scores,
  selected,
  visit,
}: {
  rates: readonly PlatformRate[]
  scores: readonly PlatformStability[]
  selected: string | undefined
  visit: Visit
}): Rendered {
  return (
    <section>
      <h2 class="section-title">Occurrences by platform</h2>
      {rates.length === MAX_LISTED_PLATFORMS && (
        <p class="description">{`The ${MAX_LISTED_PLATFORMS} platforms with the most occurrences.`}</p>
      )}
      <ul class="platforms">
        {rates.map((rate) => (
          <li class="card platform">
            <PlatformCard
              rate={rate}
              stability={scores.find(({ platform }) => platform === rate.platform)}
              current={rate.platform === selected}
              visit={visit}
            />
          </li>
        ))}
      </ul>
      <Explanation>
        {`${STABILITY_SCALE} Stability: ${stabilityFormula({ open: 'its errors', growth: 'the previous period' })} Change: compared with the previous period of the same length. Resolved and time to resolve: errors last seen on the platform.`}
      </Explanation>
    </section>
  )
}

function PlatformCard({
  rate,
  stability,
  current,
  visit,
}: {
  rate: PlatformRate
  stability: PlatformStability | undefined
  current: boolean
  visit: Visit
}) {
  return (
    <>
      <div class="platform-head">
        <h3>
          <a
            href={`${currentPageWith(visit, { platform: rate.platform })}#platform`}
            aria-current={current ? 'true' : undefined}
          >
            {rate.platform}
          </a>
        </h3>
        <p class="muted">{`${severeText(rate.severities)} critical or high`}</p>
      </div>
      <Trend rate={rate} />
      <SeverityMix counts={rate.severities} />
      <dl class="platform-facts">
        <Fact label="Occurrences">
          <a href={href(visit, '/errors', { platform: rate.platform })}>{formatOccurrences(rate)}</a>
        </Fact>
        <Fact label="Per day">{formatCount(Math.round(rate.per_day * 10) / 10)}</Fact>
        <Fact label="Change">{formatChange(rate)}</Fact>
        {stability && (
          <>
            <Fact label="Resolved">
              {`${formatCount(stability.resolved_count)} of ${formatCount(stability.error_count)} errors`}
            </Fact>
            <Fact label="Time to resolve">{formatDuration(stability.median_time_to_resolve_ms)}</Fact>
            <Fact label="Stability">
              {`${stability.stability_score} of 100, ${formatIdentifier(stability.status)}`}
            </Fact>
          </>
        )}
      </dl>
    </>
  )
}

/** Additional bars would be too narrow to distinguish. */
const MAX_BARS = 90

/** Daily trend, or weekly for long periods. */
function Trend({ rate: { platform, daily_counts } }: { rate: PlatformRate }) {
  if (daily_counts.length <= MAX_BARS) {
    return <Sparkline values={daily_counts} label={`Occurrences on ${platform} per day`} />
  }
  const weeks: number[] = []
  for (let end = daily_counts.length; end > 0; end -= 7) {
    weeks.unshift(daily_counts.slice(Math.max(0, end - 7), end).reduce((sum, count) => sum + count, 0))
  }
  return <Sparkline values={weeks} label={`Occurrences on ${platform} per week`} />
}

function Fact({ label, children }: { label: string; children?: Rendered }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function formatOccurrences({ occurrences, share }: PlatformRate): string {
  const percent = sharePercent(occurrences, share)
  return percent ? `${formatCount(occurrences)} (${percent})` : formatCount(occurrences)
}

function formatChange({ growth, before_count, occurrences }: PlatformRate): string {
  if (growth === null) return 'no earlier data'
  const sign = growth > 0 ? '+' : growth < 0 ? '−' : '±'
  const change = samplePercent(Math.abs(growth), before_count) ?? formatCount(Math.abs(occurrences - before_count))
  return `${sign}${change} from ${formatCount(before_count)}`
}

const STATUS: Column<PlatformHealth['top_errors'][number]> = {
  name: 'Status',
  isBlank: ({ status }) => status === 'new',
  cell: ({ status }) => status !== 'new' && <StatusBadge status={status} />,
}

export function PlatformErrors({ health, visit }: { health: PlatformHealth; visit: Visit }): Rendered {
  const errors = health.top_errors.slice(0, MAX_SHOWN_ERRORS)
  // Most errors are new, so only other states are shown.
  const hasStatus = errors.some(({ status }) => status !== 'new')
  return (
    <Insight
      id="platform"
      title={`Most frequent on ${health.platform}`}
      description="Top errors on this platform in the period."
    >
      {errors.length === 0 ? (
        <p class="muted">{`No occurrences on ${health.platform} in this period.`}</p>
      ) : (
        <InsightTable
          title={`Most frequent errors on ${health.platform}`}
          rows={errors}
          columns={[
            { name: 'Error', cell: (error) => <ErrorLink error={error} visit={visit} /> },
            { name: 'Severity', cell: ({ severity }) => <SeverityBadge severity={severity} /> },
            ...(hasStatus ? [STATUS] : []),
            { name: 'Occurrences', number: true, cell: ({ count }) => formatCount(count) },
          ]}
        />
      )}
    </Insight>
  )
}

/** Errors on several platforms. */
export function CrossPlatform({ errors, visit }: { errors: readonly CrossPlatformError[]; visit: Visit }): Rendered {
  return (
    <Insight title="Across platforms" description="Errors with the same type and location on 2 or more platforms.">
      {errors.length === 0 ? (
        <p class="muted">No cross-platform errors.</p>
      ) : (
        <InsightTable
          title="Errors across platforms"
          rows={errors}
          columns={[
            { name: 'Error', cell: (error) => <CrossPlatformLink error={error} visit={visit} /> },
            {
              name: 'Platforms',
              cell: ({ platforms }) => (
                <ul class="pairs">
                  {platforms.map(({ platform, count }) => (
                    <li>
                      <span class="badge">{platform}</span> {formatCount(count)}
                    </li>
                  ))}
                </ul>
              ),
            },
            { name: 'Occurrences', number: true, cell: ({ count }) => formatCount(count) },
          ]}
        />
      )}
    </Insight>
  )
}

function CrossPlatformLink({ error, visit }: { error: CrossPlatformError; visit: Visit }) {
  const { error_type, error_ids } = error
  const [id = 0] = error_ids
  if (error_ids.length === 1) return <ErrorLink error={{ ...error, id }} visit={visit} />
  return (
    <>
      <ErrorLink error={{ ...error, id }} link={href(visit, '/errors', { error_type })} visit={visit} />
      <span class="meta muted">{`${error_ids.length} errors`}</span>
    </>
  )
}
