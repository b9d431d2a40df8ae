import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { baselineOf, deviationsAbove, isAbove } from '../../src/analytics/baseline-statistics.js'
import { describeEachDatabase } from '../support/databases.js'
import { freshTracker, NOON, trackerAt, withDatabase } from '../support/tracker.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** What is usual, in the plainest words: without what lies three deviations from the mean of all. */
function usualByHand(counts: readonly number[]) {
  const figures = (some: readonly number[]) => {
    let [sum, squares] = [0, 0]
    for (const count of some) sum += count
    for (const count of some) squares += (count - sum / some.length) * (count - sum / some.length)
    return { mean: sum / some.length, std_dev: Math.sqrt(squares / some.length), sample_count: some.length }
  }
  const all = figures(counts)
  return figures(counts.filter((count) => Math.abs(count - all.mean) <= 3 * all.std_dev))
}

describe('what is usual', () => {
  test('is the mean and the deviation without what is far out', () => {
    expect(baselineOf([])).toEqual({ mean: 0, std_dev: 0, sample_count: 0 })
    expect(baselineOf([4])).toEqual({ mean: 4, std_dev: 0, sample_count: 1 })
    expect(baselineOf([2, 4, 4, 4, 5, 5, 7, 9])).toEqual({ mean: 5, std_dev: 2, sample_count: 8 })
    const storm = [...new Array<number>(99).fill(1), 10_000]
    expect(baselineOf(storm)).toEqual({ mean: 1, std_dev: 0, sample_count: 99 })
    expect(deviationsAbove({ mean: 5, std_dev: 2 }, 9)).toBe(2)
    expect(deviationsAbove({ mean: 1, std_dev: 0 }, 9)).toBeNull()
  })

  test('is exceeded by more than the threshold, or by anything where it never changed', () => {
    expect([9, 10].map((count) => isAbove({ mean: 5, std_dev: 2 }, count, 2))).toEqual([false, true])
    expect([1, 2].map((count) => isAbove({ mean: 1, std_dev: 0 }, count, 2))).toEqual([false, true])
  })
})

describeEachDatabase('BaselineCalculator', (database) => {
  const baselines = (url: string) =>
    withDatabase(url, ({ read }) => read.selectFrom('faultboard_baselines').selectAll().orderBy('id').execute())

  test('agrees with a count by hand: each application and platform by itself, empty hours and days included', async () => {
    // America changed its clocks two days before.
    const time_zone = 'America/New_York'
    const { tracker, ...place } = await freshTracker(database, { time_zone })
    const other = trackerAt(place, { time_zone, application_name: 'other' }).tracker
    const event = fc.record({
      kind: fc.constantFrom<string>('shop Web', 'shop iOS', 'other Web'),
      // Most in a few hours, so that some hours and days are far out.
      back: fc.oneof(fc.integer({ min: 1, max: 27 * 24 }), fc.integer({ min: 100, max: 103 })),
    })
    const events = fc.sample(fc.array(event, { minLength: 150, maxLength: 150 }), { numRuns: 1, seed: 5 })[0] ?? []
    for (const kind of ['shop Web', 'shop iOS', 'other Web']) events.push({ kind, back: 26 * 24 })
    await Promise.all(
      events.map(({ kind, back }) => {
        const [application, platform] = kind.split(' ')
        const { Commands } = application === 'shop' ? tracker : other
        const occurred_at = NOON - back * HOUR + 1
        return Commands.LogError.call({ error_type: 'Type', message: 'm', platform, occurred_at })
      }),
    )
    expect(await tracker.Services.BaselineCalculator.calculateAllBaselines()).toEqual({
      calculated: 6,
      too_little_history: 0,
    })
    const date = new Intl.DateTimeFormat('en-CA', { timeZone: time_zone })
    const applications = await tracker.Queries.Applications.call()
    const rows = await baselines(place.url)
    expect(rows).toHaveLength(6)
    for (const row of rows) {
      const name = applications.find(({ id }) => id === row.application_id)?.name
      const backs = events.filter(({ kind }) => kind === `${name} ${row.platform}`).map(({ back }) => back)
      const hours = Array.from({ length: Math.max(...backs) }, (_, i) => i + 1)
      const day = (back: number) => date.format(NOON - back * HOUR)
      // The first day was not seen as a whole, and today is not over.
      const days = [...new Set(hours.map(day))].filter((one) => one !== day(0) && one !== day(Math.max(...backs)))
      const counts =
        row.granularity === 'hour'
          ? hours.map((hour) => backs.filter((back) => back === hour).length)
          : days.map((one) => backs.filter((back) => day(back) === one).length)
      const expected = usualByHand(counts)
      expect(row).toMatchObject({ error_type: 'Type', occurrence_count: backs.length })
      expect(row.sample_count).toBe(expected.sample_count)
      expect(Number(row.mean)).toBeCloseTo(expected.mean, 10)
      expect(Number(row.std_dev)).toBeCloseTo(expected.std_dev, 10)
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

describeEachDatabase('what is above its baseline', (database) => {
  test('is told of the local day, of each application and platform by itself', async () => {
    const { tracker, clock, ...place } = await freshTracker(database, { time_zone: 'Asia/Tokyo' })
    const other = trackerAt(place, { time_zone: 'Asia/Tokyo', application_name: 'other' }).tracker
    const logged: Promise<unknown>[] = []
    const log = (error_type: string, occurred_at: number, platform = 'Web', at = tracker) =>
      logged.push(at.Commands.LogError.call({ error_type, message: 'm', platform, occurred_at }))
    // At noon in Greenwich it is 21:00 in Tokyo, where the day began at 15:00 of the day before.
    const today = NOON - 21 * HOUR
    for (let day = 1; day <= 14; day++) {
      for (const type of ['Loud', 'Late', 'Even']) {
        log(type, today - day * DAY + HOUR)
        log(type, today - day * DAY + 2 * HOUR)
        log(type, today - day * DAY + 2 * HOUR, 'iOS')
        log(type, today - day * DAY + 2 * HOUR, 'Web', other)
      }
    }
    expect(await tracker.Queries.ErrorAnalytics.call()).toMatchObject({ above_baseline: null })
    await Promise.all(logged)
    await tracker.Services.BaselineCalculator.calculateAllBaselines()
    for (let i = 0; i < 9; i++) {
      log('Loud', today + i * HOUR)
      log('Late', today - 1 - i)
    }
    log('Loud', today, 'iOS')
    log('Even', today, 'Web', other)
    await Promise.all(logged)
    const { above_baseline } = await tracker.Queries.ErrorAnalytics.call()
    expect(above_baseline).toMatchObject([{ error_type: 'Loud', platform: 'Web', count: 9, usual: 2, std_dev: 0 }])
    const [loud] = above_baseline ?? []
    const named = { application_id: loud?.application_id }
    expect((await tracker.Queries.ErrorAnalytics.call(named)).above_baseline).toHaveLength(1)
    const [stranger] = (await tracker.Queries.Applications.call()).filter(({ id }) => id !== loud?.application_id)
    const others = await tracker.Queries.ErrorAnalytics.call({ application_id: stranger?.id })
    expect(others.above_baseline).toEqual([])
    clock.now = NOON + DAY
    expect((await tracker.Queries.ErrorAnalytics.call()).above_baseline).toEqual([])
  })
})
