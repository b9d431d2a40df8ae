import { expect, test } from 'vitest'
import { cachedQuery } from '../../../src/analytics/cached-query.js'
import { comparePlatforms } from '../../../src/analytics/platforms/platform-comparison.js'
import { errorTrends } from '../../../src/analytics/trends/error-trends.js'
import type { Context } from '../../../src/context.js'
import { analytics } from '../../../src/dashboard/pages/analytics/page.js'
import { platformComparison } from '../../../src/dashboard/pages/platforms/page.js'
import { UpdatedAt } from '../../../src/dashboard/ui/insight.js'
import { ALL_ERRORS, scopeKey } from '../../../src/model/input/scope.js'
import { perform } from '../../../src/operation.js'
import { describeOneDatabase } from '../../support/databases.js'
import { NOON } from '../../support/tracker.js'
import { addGroups, listContext } from '../../triage/list-context.js'

/** Makes the tracker cache a result, as it does for slow queries. */
const rememberSlowly = <T>(context: Context, question: string, query: () => Promise<T>) =>
  cachedQuery(context, question, async () => {
    await new Promise((resume) => setTimeout(resume, 80))
    return query()
  })

test('shows the age of cached figures and hides it when they are fresh', () => {
  const textAfter = (seconds: number) => String(UpdatedAt({ at: NOON - seconds * 1000, now: NOON }) ?? '')
  expect(textAfter(4)).toBe('')
  expect(textAfter(40)).toMatch(/^<p class="description updated-at" title="Cached[^"]*">Updated 40 seconds ago<\/p>$/)
  expect(textAfter(120)).toContain('>Updated 2 minutes ago<')
})

describeOneDatabase('a cached page', (database) => {
  test('returns the age of the oldest cached result in counted_at', async () => {
    const { context, clock, log } = await listContext(database, { enable_platform_comparison: true })
    await log('Any')
    await addGroups(context, 100, (i) => ({ text: `text ${i}` }))
    const platforms = await perform(comparePlatforms, context, { days: 7 })
    await rememberSlowly(context, `analytics trends 7 ${scopeKey(ALL_ERRORS)}`, () =>
      errorTrends(context, { days: 7, ...ALL_ERRORS }),
    )
    await rememberSlowly(context, `platforms rates 7 ${scopeKey(ALL_ERRORS)}`, async () => ({
      period: await platforms.period(),
      rates: await platforms.errorRateByPlatform(),
      scores: await platforms.platformStabilityScores(),
    }))
    clock.now = NOON + 40_000
    for (const page of [analytics, platformComparison]) {
      const data = (await page.load(context, { days: 7 } as never, {} as never, true)) as object
      const more = (await page.loadForJson?.(context, data, { days: 7 } as never)) ?? {}
      expect(page.json?.({ ...data, ...more })).toMatchObject({ counted_at: new Date(NOON).toISOString() })
    }
  })
})
