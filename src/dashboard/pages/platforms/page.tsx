import * as v from 'valibot'
import { cachedQuery, oldestQueryTime } from '../../../analytics/cached-query.js'
import { CrossPlatformError } from '../../../analytics/platforms/cross-platform-errors.js'
import { comparePlatforms, PLATFORM_DAYS, PlatformHealth } from '../../../analytics/platforms/platform-comparison.js'
import { PlatformRate, PlatformStability } from '../../../analytics/platforms/platform-figures.js'
import { PeriodView, periodInput } from '../../../analytics/sums/period.js'
import { filterText } from '../../../model/input/input.js'
import { scopeKey } from '../../../model/input/scope.js'
import { MAX_LISTED_PLATFORMS } from '../../../model/requests/platform.js'
import * as r from '../../../model/result.js'
import { definePage } from '../../define.js'
import { DayRange } from '../../ui/day-range.js'
import { Empty } from '../../ui/empty.js'
import { UpdatedAt } from '../../ui/insight.js'
import { PageHead } from '../../ui/layout/page-head.js'
import { periodText } from '../analytics/trends.js'
import { CrossPlatform, PlatformCards, PlatformErrors } from './panels.js'

interface Comparison {
  period: PeriodView
  rates: PlatformRate[]
  scores: PlatformStability[]
}

interface PlatformsData {
  comparison: Comparison
  health: PlatformHealth | null
  crossPlatform: CrossPlatformError[]
  /** Time of the oldest cached result. */
  counted_at: number
}

export const platformComparison = definePage({
  path: '/errors/platform_comparison',
  text: 'Platform comparison: rates, stability and errors that platforms share',
  role: 'viewer',
  needs: 'enable_platform_comparison',
  parameters: v.object({ ...periodInput.entries, platform: filterText({ max: 64 }) }),
  async load(context, { days = PLATFORM_DAYS, application_id, environment, platform }): Promise<PlatformsData> {
    const scope = { application_id, environment }
    const query = await comparePlatforms.run(context, { days, ...scope })
    const cached = <T,>(name: string, load: () => Promise<T>) =>
      cachedQuery(context, `platforms ${name} ${days} ${scopeKey(scope)}`, load)
    const comparison = await cached('rates', async () => {
      const rates = (await query.errorRateByPlatform()).slice(0, MAX_LISTED_PLATFORMS)
      const listed = new Set(rates.map((rate) => rate.platform))
      const scores = (await query.platformStabilityScores()).filter((score) => listed.has(score.platform))
      return { period: await query.period(), rates, scores }
    })
    const selected = platform ?? comparison.value.rates[0]?.platform
    const health =
      selected === undefined ? null : await cached(`of ${selected}`, () => query.platformHealthSummary(selected))
    const crossPlatform = await cached('crossing', () => query.crossPlatformErrors())
    return {
      comparison: comparison.value,
      health: health?.value ?? null,
      crossPlatform: crossPlatform.value,
      counted_at: oldestQueryTime([comparison, health, crossPlatform]),
    }
  },
  title: () => 'Platforms',
  response: r.object({
    period: PeriodView,
    error_rate_by_platform: r.list(PlatformRate),
    platform_stability_scores: r.list(PlatformStability),
    platform_health_summary: r.nullable(PlatformHealth),
    cross_platform_errors: r.list(CrossPlatformError),
    counted_at: r.time,
  }),
  json: ({ comparison, health, crossPlatform, counted_at }) => ({
    period: comparison.period,
    error_rate_by_platform: comparison.rates,
    platform_stability_scores: comparison.scores,
    platform_health_summary: health,
    cross_platform_errors: crossPlatform,
    counted_at: new Date(counted_at).toISOString(),
  }),
  view: ({ comparison, health, crossPlatform, counted_at }, visit) => (
    <>
      <PageHead title="Platforms" context={periodText(comparison.period)}>
        <DayRange days={comparison.period.days} visit={visit} />
      </PageHead>
      {comparison.rates.length === 0 ? (
        <Empty
          title="No platforms in this period"
          code="await Tracker.Commands.LogError.call({ error_type, message, platform: 'iOS', app_version })"
        >
          Faultboard detects the platform from the user agent of a request, or reads it from a client report. Select a
          longer range, or report an error:
        </Empty>
      ) : (
        <div class="stack">
          <PlatformCards
            rates={comparison.rates}
            scores={comparison.scores}
            selected={health?.platform}
            visit={visit}
          />
          {health && <PlatformErrors health={health} visit={visit} />}
          <CrossPlatform errors={crossPlatform} visit={visit} />
          <UpdatedAt at={counted_at} now={visit.now} />
        </div>
      )}
    </>
  ),
})
