import { expect, test } from 'vitest'
import { errorTrends } from '../../src/analytics/error-trends.js'
import { PlatformComparison } from '../../src/analytics/platform-comparison.js'
import { remembered } from '../../src/analytics/remembered.js'
import type { Context } from '../../src/context.js'
import { analytics } from '../../src/dashboard/pages/analytics.js'
import { platformComparison } from '../../src/dashboard/pages/platform-comparison.js'
import { describeEachDatabase } from '../support/databases.js'
import { NOON } from '../support/tracker.js'
import { listContext } from '../triage/list-context.js'

/** Has the tracker remember an answer, as it does where finding it took long. */
const rememberSlowly = <T>(context: Context, question: string, ask: () => Promise<T>) =>
  remembered(context, question, async () => {
    await new Promise((resume) => setTimeout(resume, 80))
    return ask()
  })

describeEachDatabase('a page says', (database) => {
  test('when the oldest of its answers was counted', async () => {
    const { context, clock, log } = await listContext(database, { enable_platform_comparison: true })
    await log('Any')
    const platforms = new PlatformComparison(() => context, { days: 7 })
    await rememberSlowly(context, 'analytics trends 7 undefined', () =>
      errorTrends(context, { days: 7, application_id: undefined }),
    )
    await rememberSlowly(context, 'platforms rates 7 undefined', async () => ({
      period: await platforms.period(),
      rates: await platforms.errorRateByPlatform(),
      scores: await platforms.platformStabilityScores(),
    }))
    clock.now = NOON + 40_000
    for (const page of [analytics, platformComparison]) {
      const data = await page.load(context, { days: 7 } as never, {} as never)
      expect(page.json?.(data as never)).toMatchObject({ counted_at: new Date(NOON).toISOString() })
    }
  })
})
