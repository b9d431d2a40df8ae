import * as v from 'valibot'
import type { CrossPlatformError } from '../../analytics/cross-platform-errors.js'
import { type PeriodView, periodInput } from '../../analytics/period.js'
import { PLATFORM_DAYS, PlatformComparison, type PlatformHealth } from '../../analytics/platform-comparison.js'
import type { PlatformRate, PlatformStability } from '../../analytics/platform-figures.js'
import { type Answer, remembered } from '../../analytics/remembered.js'
import { filterText } from '../../model/input.js'
import { DayRange } from '../components/day-range.js'
import { Empty } from '../components/empty.js'
import { CountedAt } from '../components/insight.js'
import { PageHead } from '../components/page-head.js'
import { CrossPlatform, PlatformCards, PlatformErrors } from '../components/platforms.js'
import { periodLine } from '../components/trends.js'
import { definePage } from '../define.js'

interface Comparison {
  period: PeriodView
  rates: PlatformRate[]
  scores: PlatformStability[]
}

interface Data {
  comparison: Comparison
  health: Answer<PlatformHealth> | null
  crossing: Answer<CrossPlatformError[]>
}

/** The platforms beside each other, one of them closely, and what fails on several. */
export const platformComparison = definePage({
  path: '/errors/platform_comparison',
  text: 'Platform comparison: rates, stability and errors that platforms share',
  needs: 'enable_platform_comparison',
  parameters: v.object({ ...periodInput.entries, platform: filterText({ max: 64 }) }),
  async load(context, { days = PLATFORM_DAYS, application_id, platform }): Promise<Data> {
    const query = new PlatformComparison(() => context, { days, application_id: application_id ?? null })
    const ask = <T,>(name: string, answer: () => Promise<T>) =>
      remembered(context, `platforms ${name} ${days} ${application_id}`, answer)
    const { value: comparison } = await ask('rates', async () => ({
      period: await query.period(),
      rates: await query.errorRateByPlatform(),
      scores: await query.platformStabilityScores(),
    }))
    const chosen = platform ?? comparison.rates[0]?.platform
    return {
      comparison,
      health: chosen === undefined ? null : await ask(`of ${chosen}`, () => query.platformHealthSummary(chosen)),
      crossing: await ask('crossing', () => query.crossPlatformErrors()),
    }
  },
  title: () => 'Platforms',
  json: ({ comparison, health, crossing }) => ({
    period: comparison.period,
    error_rate_by_platform: comparison.rates,
    platform_stability_scores: comparison.scores,
    platform_health_summary: health?.value ?? null,
    cross_platform_errors: crossing.value,
    counted_at: new Date(crossing.asked_at).toISOString(),
  }),
  view: ({ comparison, health, crossing }, visit) => (
    <>
      <PageHead title="Platforms" context={periodLine(comparison.period)}>
        <DayRange days={comparison.period.days} visit={visit} />
      </PageHead>
      {comparison.rates.length === 0 ? (
        <Empty
          title="No platform reported in this period"
          code="await Tracker.Commands.LogError.call({ error_type, message, platform: 'iOS', app_version })"
        >
          Platforms are told by the user agent of a request, or by the endpoint through which your apps report. Choose a
          longer range, or report one:
        </Empty>
      ) : (
        <div class="stack">
          <PlatformCards
            rates={comparison.rates}
            scores={comparison.scores}
            chosen={health?.value.platform}
            visit={visit}
          />
          {health && <PlatformErrors health={health.value} visit={visit} />}
          <CrossPlatform errors={crossing.value} visit={visit} />
          <CountedAt at={crossing.asked_at} now={visit.now} />
        </div>
      )}
    </>
  ),
})
