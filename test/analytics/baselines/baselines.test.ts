import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  calculateBaseline,
  deviationsAbove,
  isAboveBaseline,
} from '../../../src/analytics/baselines/baseline-statistics.js'
import { describeEachDatabase } from '../../support/databases.js'
import { freshTracker, NOON, trackerAt, withDatabase } from '../../support/tracker.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Reference implementation: mean and deviation without counts more than three deviations from the mean. */
function usualByHand(counts: readonly number[]) {
  const figures = (some: readonly number[]) => {
    let [sum, squares] = [0, 0]
    for (const count of some) sum += count
    for (const count of some) squares += (count - sum / some.length) * (count - sum / some.length)
    return { mean: sum / some.length, std_dev: Math.sqrt(squares / some.length), sample_count: some.length }
  }
  const all = figures(counts)
  const typical = figures(counts.filter((count) => Math.abs(count - all.mean) <= 3 * all.std_dev))
  return { ...typical, std_dev: Math.max(typical.std_dev, Math.sqrt(all.mean)) }
}

describe('a baseline', () => {
  test('a baseline is the mean and the deviation without outliers', () => {
    expect(calculateBaseline([])).toEqual({ mean: 0, std_dev: 0, sample_count: 0 })
    expect(calculateBaseline([2, 2, 2, 14, 14, 14])).toEqual({ mean: 8, std_dev: 6, sample_count: 6 })
    expect(deviationsAbove({ mean: 5, std_dev: 2 }, 9)).toBe(2)
    expect(deviationsAbove({ mean: 0, std_dev: 0 }, 9)).toBeNull()
  })

  test('a baseline has a deviation of at least the square root of the mean including outliers', () => {
    expect(calculateBaseline([4])).toEqual({ mean: 4, std_dev: 2, sample_count: 1 })
    const storm = [...new Array<number>(99).fill(1), 9901]
    expect(calculateBaseline(storm)).toEqual({ mean: 1, std_dev: 10, sample_count: 99 })
  })

  test('a baseline is exceeded only above the threshold and with at least five occurrences', () => {
    expect([9, 10].map((count) => isAboveBaseline({ mean: 5, std_dev: 2 }, count, 2))).toEqual([false, true])
    expect([4, 5].map((count) => isAboveBaseline({ mean: 0, std_dev: 0.2 }, count, 2))).toEqual([false, true])
    expect([4, 5].map((count) => isAboveBaseline({ mean: 0, std_dev: 0 }, count, 2))).toEqual([false, true])
  })
})

/** Deterministic uniform numbers, so that a simulation has the same result in every run (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

function poisson(mean: number, random: () => number): number {
  const limit = Math.exp(-mean)
  let count = 0
  for (let product = random(); product > limit; product *= random()) count++
  return count
}

describe('a simulation of error types over four weeks', () => {
  const FOUR_WEEKS = 28 * 24
  const TYPES = 60
  /** Occurrences per hour, from once in four days to fifty an hour. */
  const RATES = [0.01, 1 / 24, 0.1, 0.25, 0.5, 1, 2, 5, 10, 50]

  /** Share of the hours of a fifth week that exceed the baseline of the four weeks before. */
  const simulate = (rate: number, threshold: number) => {
    const random = seededRandom(Math.round(rate * 1000) + 1)
    let [falseAlerts, hours, missedSpikes] = [0, 0, 0]
    for (let type = 0; type < TYPES; type++) {
      const baseline = calculateBaseline(Array.from({ length: FOUR_WEEKS }, () => poisson(rate, random)))
      for (let hour = 0; hour < 7 * 24; hour++, hours++) {
        if (isAboveBaseline(baseline, poisson(rate, random), threshold)) falseAlerts++
      }
      // Ten occurrences above the mean, or three times the mean.
      if (!isAboveBaseline(baseline, Math.ceil(Math.max(rate + 10, 3 * rate)), threshold)) missedSpikes++
    }
    return { share: falseAlerts / hours, missedSpikes }
  }

  test('never exceeds the baseline for types that occur at most four times a day', () => {
    for (const rate of RATES.filter((value) => value <= 1 / 6))
      expect(simulate(rate, 2)).toEqual({ share: 0, missedSpikes: 0 })
  })

  test('exceeds the baseline in under 0.5% of hours up to one occurrence an hour', () => {
    for (const rate of RATES.filter((value) => value <= 1))
      expect(simulate(rate, 2).share, `${rate}/h`).toBeLessThan(0.005)
  })

  test('exceeds the baseline in under 6% of hours at two deviations and under 1.5% at three', () => {
    for (const rate of RATES) {
      expect(simulate(rate, 2).share, `${rate}/h`).toBeLessThan(0.06)
      expect(simulate(rate, 3).share, `${rate}/h`).toBeLessThan(0.015)
    }
  })

  test('detects every spike of ten more occurrences or three times the mean rate', () => {
    for (const rate of RATES) expect(simulate(rate, 2).missedSpikes, `${rate}/h`).toBe(0)
  })
})

describeEachDatabase('BaselineCalculator', (database) => {
  const baselines = (url: string) =>
    withDatabase(url, ({ read }) => read.selectFrom('faultboard_baselines').selectAll().orderBy('id').execute())

  test('matches the reference per application and platform, including empty hours and days', async () => {
    // Daylight saving time started in America two days earlier.
    const time_zone = 'America/New_York'
    const { tracker, ...storage } = await freshTracker(database, { time_zone })
    const other = trackerAt(storage, { time_zone, application_name: 'other' }).tracker
    const occurrence = fc.record({
      kind: fc.constantFrom<string>('shop Web', 'shop iOS', 'other Web'),
      // Concentrated in a few hours, so that some hours and days are outliers.
      back: fc.oneof(fc.integer({ min: 1, max: 27 * 24 }), fc.integer({ min: 100, max: 103 })),
    })
    const occurrences =
      fc.sample(fc.array(occurrence, { minLength: 150, maxLength: 150 }), { numRuns: 1, seed: 5 })[0] ?? []
    for (const kind of ['shop Web', 'shop iOS', 'other Web']) occurrences.push({ kind, back: 26 * 24 })
    await Promise.all(
      occurrences.map(({ kind, back }) => {
        const [application, platform] = kind.split(' ')
        const { Commands } = application === 'shop' ? tracker : other
        const occurred_at = NOON - back * HOUR + 1
        return Commands.LogError.call({ error_type: 'Type', message: 'm', platform, occurred_at })
      }),
    )
    expect(await tracker.Services.BaselineCalculator.calculateAllBaselines()).toEqual({
      calculated: 6,
      insufficient_history: 0,
    })
    const date = new Intl.DateTimeFormat('en-CA', { timeZone: time_zone })
    const applications = await tracker.Queries.Applications.call()
    const rows = await baselines(storage.url)
    expect(rows).toHaveLength(6)
    for (const row of rows) {
      const name = applications.find(({ id }) => id === row.application_id)?.name
      const backs = occurrences.filter(({ kind }) => kind === `${name} ${row.platform}`).map(({ back }) => back)
      const hours = Array.from({ length: Math.max(...backs) }, (_, i) => i + 1)
      const day = (back: number) => date.format(NOON - back * HOUR)
      // The first day is incomplete, and so is today.
      const days = [...new Set(hours.map(day))].filter(
        (otherDay) => otherDay !== day(0) && otherDay !== day(Math.max(...backs)),
      )
      const counts =
        row.granularity === 'hour'
          ? hours.map((hour) => backs.filter((back) => back === hour).length)
          : days.map((pastDay) => backs.filter((back) => day(back) === pastDay).length)
      const expected = usualByHand(counts)
      expect(row).toMatchObject({ error_type: 'Type', occurrence_count: backs.length })
      expect(row.sample_count).toBe(expected.sample_count)
      expect(Number(row.mean)).toBeCloseTo(expected.mean, 10)
      expect(Number(row.std_dev)).toBeCloseTo(expected.std_dev, 10)
    }
  })

  test('stores no baseline with less than seven days of history or fewer than ten occurrences', async () => {
    const { tracker, url } = await freshTracker(database)
    const log = (error_type: string, back: number) =>
      tracker.Commands.LogError.call({ error_type, message: 'm', occurred_at: NOON - back })
    await Promise.all([
      ...Array.from({ length: 20 }, (_, i) => log('Young', (i + 1) * HOUR)),
      ...Array.from({ length: 9 }, (_, i) => log('Rare', (i + 1) * DAY)),
      ...Array.from({ length: 10 }, (_, i) => log('Known', (i + 1) * DAY)),
    ])
    expect(await tracker.Services.BaselineCalculator.calculateAllBaselines()).toEqual({
      calculated: 2,
      insufficient_history: 2,
    })
    expect((await baselines(url)).map(({ error_type, granularity }) => [error_type, granularity])).toEqual([
      ['Known', 'hour'],
      ['Known', 'day'],
    ])
  })

  test('excludes the current hour and deletes baselines of types that no longer occur', async () => {
    const { tracker, url, clock } = await freshTracker(database)
    const log = (occurred_at: number) =>
      tracker.Commands.LogError.call({ error_type: 'Known', message: 'm', occurred_at })
    await Promise.all(Array.from({ length: 12 }, (_, i) => log(NOON - (i + 1) * DAY)))
    clock.now = NOON + HOUR / 2
    await Promise.all(Array.from({ length: 50 }, (_, i) => log(NOON + 1000 + i)))
    await tracker.Services.BaselineCalculator.calculateAllBaselines()
    expect((await baselines(url))[0]).toMatchObject({ occurrence_count: 12 })
    clock.now = NOON + 60 * DAY
    await tracker.Services.BaselineCalculator.calculateAllBaselines()
    expect(await baselines(url)).toEqual([])
  })
})

describeEachDatabase('the types above their baseline', (database) => {
  test('types above their baseline are listed for the local day per application and platform', async () => {
    const { tracker, clock, ...storage } = await freshTracker(database, { time_zone: 'Asia/Tokyo' })
    const other = trackerAt(storage, { time_zone: 'Asia/Tokyo', application_name: 'other' }).tracker
    const logged: Promise<unknown>[] = []
    const log = (error_type: string, occurred_at: number, platform = 'Web', at = tracker) =>
      logged.push(at.Commands.LogError.call({ error_type, message: 'm', platform, occurred_at }))
    // Noon UTC is 21:00 in Tokyo, where the day started at 15:00 UTC on the previous day.
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
    expect(above_baseline).toMatchObject([
      { error_type: 'Loud', platform: 'Web', count: 9, mean: 2, std_dev: Math.SQRT2 },
    ])
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
