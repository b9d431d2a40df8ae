import * as v from 'valibot'
import type { CrossPlatformError } from '../../../analytics/platforms/cross-platform-errors.js'
import {
  comparePlatforms,
  PLATFORM_DAYS,
  type PlatformHealth,
} from '../../../analytics/platforms/platform-comparison.js'
import type { PlatformRate, PlatformStability } from '../../../analytics/platforms/platform-figures.js'
import { oldestOf, remembered } from '../../../analytics/remembered.js'
import { type PeriodView, periodInput } from '../../../analytics/sums/period.js'
import { filterText } from '../../../model/input.js'
import { MAX_LISTED_PLATFORMS } from '../../../model/requests/platform.js'
import { definePage } from '../../define.js'
import { DayRange } from '../../ui/day-range.js'
import { Empty } from '../../ui/empty.js'
import { CountedAt } from '../../ui/insight.js'
import { PageHead } from '../../ui/page-head.js'
import { periodLine } from '../analytics/trends.js'
import { CrossPlatform, PlatformCards, PlatformErrors } from './panels.js'

interface Comparison {
  period: PeriodView
  rates: PlatformRate[]
  scores: PlatformStability[]
}

interface Data {
  comparison: Comparison
  health: PlatformHealth | null
  crossing: CrossPlatformError[]
  /** When the oldest of them was counted. */
  counted_at: number
}

/** The platforms beside each other, one of them closely, and what fails on several. */
export const platformComparison = definePage({
  path: '/errors/platform_comparison',
  text: 'Platform comparison: rates, stability and errors that platforms share',
  needs: 'enable_platform_comparison',
  parameters: v.object({ ...periodInput.entries, platform: filterText({ max: 64 }) }),
  async load(context, { days = PLATFORM_DAYS, application_id, platform }): Promise<Data> {
    const query = await comparePlatforms.run(context, { days, application_id })
    const ask = <T,>(name: string, answer: () => Promise<T>) =>
      remembered(context, `platforms ${name} ${days} ${application_id}`, answer)
    const comparison = await ask('rates', async () => {
      const rates = (await query.errorRateByPlatform()).slice(0, MAX_LISTED_PLATFORMS)
      const listed = new Set(rates.map((rate) => rate.platform))
      const scores = (await query.platformStabilityScores()).filter((score) => listed.has(score.platform))
      return { period: await query.period(), rates, scores }
    })
    const chosen = platform ?? comparison.value.rates[0]?.platform
    const health = chosen === undefined ? null : await ask(`of ${chosen}`, () => query.platformHealthSummary(chosen))
    const crossing = await ask('crossing', () => query.crossPlatformErrors())
    return {
      comparison: comparison.value,
      health: health?.value ?? null,
      crossing: crossing.value,
      counted_at: oldestOf([comparison, health, crossing]),
    }
  },
  title: () => 'Platforms',
  json: ({ comparison, health, crossing, counted_at }) => ({
    period: comparison.period,
    error_rate_by_platform: comparison.rates,
    platform_stability_scores: comparison.scores,
    platform_health_summary: health,
    cross_platform_errors: crossing,
    counted_at: new Date(counted_at).toISOString(),
  }),
  view: ({ comparison, health, crossing, counted_at }, visit) => (
    <>
      <PageHead title="Platforms" context={periodLine(comparison.period)}>
        <DayRange days={comparison.period.days} visit={visit} />
      </PageHead>
      {comparison.rates.length === 0 ? (
        <Empty
          title="No platform reported in this period"
          code="await Tracker.Commands.LogError.call({ error_type, message, platform: 'iOS', app_version })"
        >
          The platform comes from the user agent of a request or from the report of a client. Choose a longer range, or
          report one:
        </Empty>
      ) : (
        <div class="stack">
          <PlatformCards rates={comparison.rates} scores={comparison.scores} chosen={health?.platform} visit={visit} />
          {health && <PlatformErrors health={health} visit={visit} />}
          <CrossPlatform errors={crossing} visit={visit} />
          <CountedAt at={counted_at} now={visit.now} />
        </div>
      )}
    </>
  ),
})
