import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { detectPattern, findBursts } from '../../../src/analytics/patterns/pattern-detector.js'
import { describeEachDatabase } from '../../support/databases.js'
import { freshTracker, NOON, trackerAt } from '../../support/tracker.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const empty = () => Array.from({ length: 7 }, () => new Array<number>(24).fill(0))

function weekWith(days: readonly number[], hours: readonly number[], count = 10): number[][] {
  const week = empty()
  for (const day of days) for (const hour of hours) (week[day] as number[])[hour] = count
  return week
}

const WEEKDAYS = [0, 1, 2, 3, 4]

describe('the pattern of a week', () => {
  test.each([
    ['business_hours', weekWith(WEEKDAYS, [9, 11, 14])],
    ['business_hours', weekWith(WEEKDAYS, [9, 10, 17])],
    ['uniform', weekWith(WEEKDAYS, [10, 20])],
    ['night', weekWith([0, 1, 2, 3, 4, 5, 6], [2, 3])],
    ['night', weekWith([5, 6], [0, 6])],
    ['weekend', weekWith([5, 6], [10, 12, 15])],
    ['weekend', weekWith([5], [20])],
    [
      'uniform',
      weekWith(
        [0, 1, 2, 3, 4, 5, 6],
        Array.from({ length: 24 }, (_, hour) => hour),
      ),
    ],
    ['uniform', empty()],
  ] as const)('the pattern of a week is %s', (type, week) => {
    expect(detectPattern(week).pattern_type).toBe(type)
  })

  test('the pattern of a week has peak hours, distributions and a strength', () => {
    const pattern = detectPattern(weekWith(WEEKDAYS, [9, 11, 14]))
    expect(pattern.peak_hours).toEqual([9, 11, 14])
    expect(pattern.hourly_distribution[9]).toBe(50)
    expect(pattern.weekday_distribution).toEqual([30, 30, 30, 30, 30, 0, 0])
    expect(pattern.total).toBe(150)
    expect(pattern.pattern_strength).toBe(1)
    expect(
      detectPattern(
        weekWith(
          [0],
          Array.from({ length: 24 }, (_, hour) => hour),
        ),
      ).pattern_strength,
    ).toBe(0)
    // Half the hours with 2 and half with 0: the deviation is as large as the mean.
    expect(detectPattern(weekWith([0], [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22], 2)).pattern_strength).toBe(1)
  })
})

describe('the pattern of fewer than ten occurrences', () => {
  test.each([
    ['three in business hours', weekWith([0], [10, 11, 12], 1)],
    ['one', weekWith([2], [10], 1)],
    ['nine at night', weekWith([0, 1, 2], [1, 2, 3], 1)],
    ['nine at the weekend', weekWith([5], [12], 9)],
  ] as const)('the pattern of fewer than ten occurrences is uniform without strength and peaks: %s', (_, week) => {
    expect(detectPattern(week)).toMatchObject({ pattern_type: 'uniform', pattern_strength: 0, peak_hours: [] })
  })

  test('the pattern of fewer than ten occurrences still reports its counts', () => {
    expect(detectPattern(weekWith([0], [10, 11, 12], 1))).toMatchObject({
      total: 3,
      hourly_distribution: { 10: 1, 11: 1, 12: 1 },
      weekday_distribution: [3, 0, 0, 0, 0, 0, 0],
    })
  })

  test('a pattern is detected from the tenth occurrence on', () => {
    expect(detectPattern(weekWith([5], [12], 10))).toMatchObject({ pattern_type: 'weekend', peak_hours: [12] })
  })
})

describe('bursts', () => {
  test('bursts contain at least five occurrences with gaps of at most one minute', () => {
    const at = (...minutes: number[]) => minutes.map((minute) => minute * MINUTE)
    expect(findBursts(at(0, 1, 2, 3))).toEqual([])
    expect(findBursts(at(0, 1, 2, 3, 4))).toEqual([
      {
        started_at: '1970-01-01T00:00:00.000Z',
        ended_at: '1970-01-01T00:04:00.000Z',
        occurrence_count: 5,
        duration_seconds: 240,
        per_minute: 1.25,
      },
    ])
    expect(findBursts(at(0, 1, 2, 3, 4.01))).toEqual([])
    expect(findBursts(at(0, 0, 0, 0, 0, 10, 20, 20, 20, 20, 20)).map((burst) => burst.occurrence_count)).toEqual([5, 5])
  })

  test('bursts do not overlap and contain every occurrence within their span', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3000 }).map((second) => second * 1000)), (times) => {
        const sorted = [...times].sort((a, b) => a - b)
        const bursts = findBursts(sorted)
        const inside = (time: number) =>
          bursts.filter(({ started_at, ended_at }) => time >= Date.parse(started_at) && time <= Date.parse(ended_at))
            .length
        expect(sorted.every((time) => inside(time) <= 1)).toBe(true)
        expect(bursts.reduce((sum, burst) => sum + burst.occurrence_count, 0)).toBe(
          sorted.filter((time) => inside(time) === 1).length,
        )
      }),
    )
  })
})

describeEachDatabase('PatternDetector', (database) => {
  test('counts occurrences of a type on a platform in the configured time zone', async () => {
    const { tracker } = await freshTracker(database, { time_zone: 'Asia/Kolkata' })
    const { Commands, Services, Queries } = tracker
    // 2026-03-09 is a Monday; 04:00 UTC is 09:30 in Kolkata.
    const monday = Date.parse('2026-03-09T04:00:00Z')
    for (const [hour, count] of [
      [0, 3],
      [2, 3],
      [5, 4],
    ] as const) {
      for (let i = 0; i < count; i++) {
        await Commands.LogError.call({
          error_type: 'Slow',
          message: 'm',
          platform: 'Web',
          occurred_at: monday + hour * HOUR + i,
        })
      }
    }
    await Commands.LogError.call({ error_type: 'Slow', message: 'm', platform: 'iOS', occurred_at: monday })
    await Commands.LogError.call({ error_type: 'Other', message: 'm', platform: 'Web', occurred_at: monday })
    const pattern = await Services.PatternDetector.analyzeCyclicalPattern({
      error_type: 'Slow',
      platform: 'Web',
      days: 30,
    })
    expect(pattern).toMatchObject({
      pattern_type: 'business_hours',
      peak_hours: [9, 11, 14],
      total: 10,
      weekday_distribution: [10, 0, 0, 0, 0, 0, 0],
    })
    expect(Object.keys(pattern.hourly_distribution)).toHaveLength(24)
    const [error] = await Queries.ErrorsList.call({ error_type: 'Slow' })
    expect(await Queries.OccurrencePattern.call({ error_id: error?.id })).toMatchObject({ total: 11 })
    expect(await Services.PatternDetector.analyzeCyclicalPattern({ error_type: 'Slow', days: 1 })).toMatchObject({
      total: 0,
      pattern_type: 'uniform',
      pattern_strength: 0,
    })
    expect(await Services.PatternDetector.analyzeCyclicalPattern({ error_type: 'Never' })).toMatchObject({ total: 0 })
  })

  test('finds bursts across all errors of a type', async () => {
    const { tracker } = await freshTracker(database)
    for (let i = 0; i < 6; i++) {
      await tracker.Commands.LogError.call({
        error_type: 'Burst',
        message: i % 2 ? 'left' : 'right',
        occurred_at: NOON - DAY + i * 30_000,
      })
    }
    await tracker.Commands.LogError.call({ error_type: 'Burst', message: 'left', occurred_at: NOON - HOUR })
    const bursts = await tracker.Services.PatternDetector.detectBursts({ error_type: 'Burst', days: 7 })
    expect(bursts).toMatchObject([{ occurrence_count: 6, duration_seconds: 150 }])
    const [left] = await tracker.Queries.ErrorsList.call({ search: 'left' })
    expect(await tracker.Queries.ErrorBursts.call({ error_id: left?.id })).toEqual([])
  })

  test('counts any number of errors of one or all applications', async () => {
    const { tracker, ...storage } = await freshTracker(database)
    const other = trackerAt(storage, { application_name: 'other' }).tracker
    const word = (n: number) => [...String(n)].map((digit) => 'abcdefghij'.charAt(Number(digit))).join('')
    const logged = Array.from({ length: 1100 }, (_, i) =>
      tracker.Commands.LogError.call({
        error_type: i < 1050 ? 'Many' : 'Few',
        message: `word ${word(i)}`,
        platform: i % 2 ? 'iOS' : 'Web',
        occurred_at: NOON - DAY + i * 1000,
      }),
    )
    for (let i = 0; i < 7; i++) {
      logged.push(other.Commands.LogError.call({ error_type: 'Many', message: 'm', occurred_at: NOON - DAY + i }))
    }
    await Promise.all(logged)
    const { analyzeCyclicalPattern, detectBursts } = tracker.Services.PatternDetector
    const [first] = await tracker.Queries.ErrorsList.call({ error_type: 'Few' })
    const application_id = first?.application_id ?? 0
    const stranger = (await tracker.Queries.Applications.call()).find(({ id }) => id !== application_id)?.id
    for (const [input, total] of [
      [{}, 1107],
      [{ application_id }, 1100],
      [{ application_id: stranger }, 7],
      [{ error_type: 'Many' }, 1057],
      [{ error_type: 'Many', application_id }, 1050],
      [{ error_type: 'Many', application_id: stranger }, 7],
      [{ error_type: 'Many', platform: 'ios' }, 525],
      [{ platform: 'IOS', application_id }, 550],
      [{ platform: 'ios', application_id: stranger }, 0],
    ] as const) {
      expect((await analyzeCyclicalPattern(input)).total).toBe(total)
      const bursts = await detectBursts(input)
      expect(bursts.reduce((sum, burst) => sum + burst.occurrence_count, 0)).toBe(total)
      expect(bursts.every(({ is_lower_bound }) => !is_lower_bound)).toBe(true)
    }
    await expect(detectBursts({ error_id: first?.id, application_id: stranger })).rejects.toMatchObject({
      code: 'not_found',
    })
    await expect(analyzeCyclicalPattern({ error_id: 999_999 })).rejects.toMatchObject({ code: 'not_found' })
  })

  test('reports a lower bound for a storm of which only a few occurrences are stored', async () => {
    const { tracker } = await freshTracker(database, { max_occurrences_per_error: 10 })
    const storm = (from: number, times: number) =>
      Promise.all(
        Array.from({ length: times }, (_, i) =>
          tracker.Commands.LogError.call({ error_type: 'Storm', message: 'm', occurred_at: from + i * 100 }),
        ),
      )
    await storm(NOON - HOUR, 60)
    const [error] = await tracker.Queries.ErrorsList.call({ error_type: 'Storm' })
    const [burst, ...others] = await tracker.Queries.ErrorBursts.call({ error_id: error?.id })
    expect(others).toEqual([])
    expect(burst).toMatchObject({ is_lower_bound: true, occurrences_in_hours: 60 })
    expect(burst?.occurrence_count).toBeLessThan(60)
    const { bursts } = await tracker.Queries.ErrorAnalytics.call()
    expect(bursts.bursts).toMatchObject([{ is_lower_bound: true, occurrences_in_hours: 60 }])
  })
})
