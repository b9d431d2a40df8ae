import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { baselineOf, deviationsAbove } from '../../src/analytics/baseline-statistics.js'
import { describeEachDatabase } from '../support/databases.js'
import { freshTracker, NOON, withDatabase } from '../support/tracker.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

describe('what is usual', () => {
  test('is the mean and the deviation without what is far out', () => {
    expect(baselineOf([])).toEqual({ mean: 0, std_dev: 0, sample_count: 0 })
    expect(baselineOf([4])).toEqual({ mean: 4, std_dev: 0, sample_count: 1 })
    expect(baselineOf([2, 4, 4, 4, 5, 5, 7, 9])).toEqual({ mean: 5, std_dev: 2, sample_count: 8 })
    const storm = [...new Array<number>(99).fill(1), 10_000]
    expect(baselineOf(storm)).toEqual({ mean: 1, std_dev: 0, sample_count: 99 })
    expect(deviationsAbove({ mean: 5, std_dev: 2, sample_count: 8 }, 9)).toBe(2)
    expect(deviationsAbove({ mean: 1, std_dev: 0, sample_count: 99 }, 9)).toBeNull()
  })
})

describeEachDatabase('BaselineCalculator', (database) => {
  const baselines = (url: string) =>
    withDatabase(url, ({ read }) => read.selectFrom('faultboard_baselines').selectAll().orderBy('id').execute())

  test('agrees with a count by hand over random weeks, empty hours included', async () => {
    const { tracker, url } = await freshTracker(database)
    const hours = fc.sample(fc.array(fc.integer({ min: 1, max: 27 * 24 }), { minLength: 60, maxLength: 60 }), {
      numRuns: 1,
      seed: 5,
    })[0] as number[]
    const all = [...hours, 27 * 24]
    await Promise.all(
      all.map((back) =>
        tracker.Commands.LogError.call({
          error_type: 'Type',
          message: 'm',
          platform: 'Web',
          occurred_at: NOON - back * HOUR + 1,
        }),
      ),
    )
    expect(await tracker.Services.BaselineCalculator.calculateAllBaselines()).toEqual({
      calculated: 2,
      too_little_history: 0,
    })
    const counts = (step: number, steps: number) =>
      Array.from({ length: steps }, (_, i) => all.filter((back) => Math.floor((back - 1) / step) === i).length)
    const byHour = baselineOf(counts(1, 27 * 24))
    const byDay = baselineOf(counts(24, 27))
    const rows = await baselines(url)
    for (const [granularity, expected] of [
      ['hour', byHour],
      ['day', byDay],
    ] as const) {
      const row = rows.find((one) => one.granularity === granularity)
      expect(row).toMatchObject({ error_type: 'Type', platform: 'Web', occurrence_count: all.length })
      expect(row?.sample_count).toBe(expected.sample_count)
      expect(Number(row?.mean)).toBeCloseTo(expected.mean, 10)
      expect(Number(row?.std_dev)).toBeCloseTo(expected.std_dev, 10)
    }
  })

  test('says nothing with under seven days of history or under ten occurrences', async () => {
    const { tracker, url } = await freshTracker(database)
    const log = (error_type: string, back: number) =>
      tracker.Commands.LogError.call({ error_type, message: 'm', occurred_at: NOON - back })
    for (let i = 1; i <= 20; i++) await log('Young', i * HOUR)
    for (let i = 1; i <= 9; i++) await log('Rare', i * DAY)
    for (let i = 1; i <= 10; i++) await log('Known', i * DAY)
    expect(await tracker.Services.BaselineCalculator.calculateAllBaselines()).toEqual({
      calculated: 2,
      too_little_history: 2,
    })
    expect((await baselines(url)).map(({ error_type, granularity }) => [error_type, granularity])).toEqual([
      ['Known', 'hour'],
      ['Known', 'day'],
    ])
  })

  test('leaves out the hour that is running, and forgets what has gone', async () => {
    const { tracker, url, clock } = await freshTracker(database)
    for (let i = 1; i <= 12; i++) {
      await tracker.Commands.LogError.call({ error_type: 'Known', message: 'm', occurred_at: NOON - i * DAY })
    }
    clock.now = NOON + HOUR / 2
    for (let i = 0; i < 50; i++) {
      await tracker.Commands.LogError.call({ error_type: 'Known', message: 'm', occurred_at: NOON + 1000 + i })
    }
    await tracker.Services.BaselineCalculator.calculateAllBaselines()
    expect((await baselines(url))[0]).toMatchObject({ occurrence_count: 12 })
    clock.now = NOON + 60 * DAY
    await tracker.Services.BaselineCalculator.calculateAllBaselines()
    expect(await baselines(url)).toEqual([])
  })
})
