import fc from 'fast-check'
import { expect, test } from 'vitest'
import { overviewData } from '../../src/analytics/overview/overview.js'
import { comparePlatforms } from '../../src/analytics/platforms/platform-comparison.js'
import { lastDaysPeriod } from '../../src/analytics/sums/period.js'
import { errorAnalytics } from '../../src/analytics/trends/error-trends.js'
import type { Context } from '../../src/context.js'
import { perform } from '../../src/operation.js'
import { errorsPage } from '../../src/triage/list/errors-list.js'
import { errorHistory } from '../../src/triage/queries/error-history.js'
import { describeEachDatabase } from '../support/databases.js'
import { listContext } from '../triage/list-context.js'

describeEachDatabase('an hour that contains midnight', (database) => {
  test('an hour counts for the local day in which it starts, on every page', async () => {
    const { context, clock, log, run } = await listContext(database, { time_zone: 'Asia/Kolkata' })
    clock.now = Date.parse('2026-03-09T06:00:00Z')
    // 00:15 on the ninth, in an hour that started at 23:30 on the eighth.
    const error_id = await log('Midnight', { occurred_at: '2026-03-08T18:45:00Z', platform: 'API', app_version: '1.0' })
    const daysWith = (days: { count: number; day: string }[]) => days.filter(({ count }) => count > 0)
    const eighth = [{ day: '2026-03-08', count: 1 }]

    const overview = await run(overviewData)
    const eighthBar = { starts_at: '2026-03-07T18:30:00.000Z', total: 1, critical: 0, high: 0, medium: 0, low: 1 }
    expect(overview.bars.filter(({ total }) => total > 0)).toEqual([eighthBar])
    expect([...overview.platforms, ...overview.releases].map(({ total }) => total)).toEqual([1, 1])
    const zoomed = await run(overviewData, { from: eighthBar.starts_at, to: '2026-03-08T18:30:00.000Z' })
    expect(zoomed.bars.filter(({ total }) => total > 0).map(({ starts_at }) => starts_at)).toEqual([
      '2026-03-08T18:00:00.000Z',
    ])
    const { errors_over_time } = await run(errorAnalytics)
    expect(daysWith(errors_over_time.map(({ date, count }) => ({ day: date, count })))).toEqual(eighth)
    const [rate] = await (await perform(comparePlatforms, context, { days: 2 })).errorRateByPlatform()
    expect(rate?.daily_counts).toEqual([1, 0])
    const { days } = await run(errorHistory, { error_id })
    expect(daysWith(days.map(({ day, count }) => ({ day, count })))).toEqual(eighth)
    const { errors } = await perform(errorsPage, context, { day: '2026-03-08' })
    expect(errors.map(({ daily_counts }) => daily_counts.slice(-2))).toEqual([[1, 0]])
    expect((await perform(errorsPage, context, { day: '2026-03-09' })).errors).toEqual([])

    // Exact counts are unaffected.
    expect(overview.stats).toMatchObject({ occurrences_today: 1, errors_today: 1 })
  })
})

test('the previous period ends at the start of the period despite daylight saving time', () => {
  const at = (now: number, time_zone: string, days: number) =>
    lastDaysPeriod({ config: { time_zone }, now: () => now } as unknown as Context, days)
  // Daylight saving time started in Berlin in the previous week, which is one hour shorter.
  const { from, before } = at(Date.parse('2026-04-05T21:30:00Z'), 'Europe/Berlin', 7)
  expect(before).toEqual({ from: from - (7 * 24 - 1) * 3_600_000, to: from })
  const someTime = fc.integer({ min: Date.parse('2025-01-01'), max: Date.parse('2027-01-01') })
  const someZone = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'UTC')
  fc.assert(
    fc.property(someTime, someZone, fc.constantFrom(1, 7, 30), (now, timeZone, days) => {
      const period = at(now, timeZone, days)
      expect(period.before.to).toBeLessThanOrEqual(period.from)
      expect(period.before.from).toBeLessThan(period.before.to)
    }),
  )
})
