import fc from 'fast-check'
import { expect, test } from 'vitest'
import { errorAnalytics } from '../../../src/analytics/trends/error-trends.js'
import { perform } from '../../../src/operation.js'
import { describeEachDatabase } from '../../support/databases.js'
import { freshStorage } from '../../support/tracker.js'
import { NOW, randomOccurrences, recordOccurrences, ZONES } from '../random-occurrences.js'
import {
  countBy,
  distinct,
  errorKey,
  inPeriod,
  localDate,
  localDates,
  severityCounts,
  type TestOccurrence,
  weekdayAndHour,
} from '../reference-statistics.js'

describeEachDatabase('the analytics', (database) => {
  test('the analytics match the reference counts for any time zone and period', async () => {
    const storage = await freshStorage(database)
    const someDays = fc.constantFrom(1, 2, 7, 30, 90)
    await fc.assert(
      fc.asyncProperty(randomOccurrences, fc.constantFrom(...ZONES), someDays, async (occurrences, timeZone, days) => {
        const { context, application_id } = await recordOccurrences(storage, occurrences, timeZone)
        const analytics = await perform(errorAnalytics, context, { days, application_id })
        const input = { now: NOW, days, timeZone }
        const seen = inPeriod(occurrences, input)
        expect(analytics.total_occurrences).toBe(seen.length)
        expect(analytics.severities).toEqual(severityCounts(seen))
        expect(analytics.errors_over_time).toEqual(
          localDates(input).map((date) => {
            const ofDay = seen.filter((occurrence) => localDate(occurrence, timeZone) === date)
            return { date, count: ofDay.length, ...severityCounts(ofDay) }
          }),
        )
        expect(mapOf(analytics.errors_by_platform, 'platform', 'count')).toEqual(
          countBy(seen, ({ platform }) => platform),
        )
        expect(mapOf(analytics.errors_by_type.types, 'error_type', 'count')).toEqual(
          countBy(seen, ({ error_type }) => error_type),
        )
        for (const { error_type, error_count } of analytics.errors_by_type.types) {
          expect(error_count).toBe(
            distinct(
              seen.filter((occurrence) => occurrence.error_type === error_type),
              errorKey,
            ).length,
          )
        }
        expect(analytics.errors_by_weekday_and_hour).toEqual(heatMap(seen, timeZone))
        expect(analytics.resolution.error_count).toBe(distinct(seen, errorKey).length)
        const users = distinct(seen, ({ user_id }) => user_id)
        expect(mapOf(analytics.top_users, 'user_id', 'error_count')).toEqual(
          Object.fromEntries(users.map((user) => [user, errorsOf(seen, user).length])),
        )
        expect(mapOf(analytics.top_users, 'user_id', 'occurrences')).toEqual(
          Object.fromEntries(
            users.map((user) => [
              user,
              occurrences.filter(
                (occurrence) => occurrence.user_id === user && errorsOf(seen, user).includes(errorKey(occurrence)),
              ).length,
            ]),
          ),
        )
        const impact = distinct(seen, errorKey)
          .map(
            (group) =>
              distinct(
                seen.filter((occurrence) => errorKey(occurrence) === group),
                ({ user_id }) => user_id,
              ).length,
          )
          .filter((count) => count > 0)
          .sort((a, b) => b - a)
        expect(analytics.user_impact.map(({ user_count }) => user_count)).toEqual(impact.slice(0, 10))
        expect(mapOf(analytics.errors_by_version, 'app_version', 'occurrences')).toEqual(
          countBy(seen, ({ app_version }) => app_version),
        )
        for (const { app_version, severities } of analytics.errors_by_version) {
          const own = seen.filter((occurrence) => occurrence.app_version === app_version)
          expect(severities).toEqual(severityCounts(own))
        }
      }),
      {
        numRuns: 6,
        examples: ZONES.map((timeZone) => [
          [createOccurrence(0), { ...createOccurrence(1), occurred_at: NOW - 20 * 86_400_000 }],
          timeZone,
          30,
        ]),
      },
    )
  }, 120_000)

  test('the analytics are empty without occurrences', async () => {
    const { context, application_id } = await recordOccurrences(await freshStorage(database), [], 'Europe/Berlin')
    const analytics = await perform(errorAnalytics, context, { application_id })
    expect(analytics.period).toMatchObject({ days: 30, from: '2026-03-01T23:00:00.000Z', time_zone: 'Europe/Berlin' })
    expect(analytics.errors_over_time).toHaveLength(30)
    expect(analytics).toMatchObject({
      total_occurrences: 0,
      errors_by_platform: [],
      errors_by_type: { types: [], other: { count: 0, type_count: 0, share: 0 } },
      top_users: [],
      user_impact: [],
      errors_by_version: [],
      recurring_errors: [],
      release: null,
    })
    expect(analytics.resolution.time_to_resolve).toMatchObject({ resolved_count: 0, median_ms: null, mean_ms: null })
  })

  test('the analytics list ten types and combine all other types', async () => {
    const occurrences = Array.from({ length: 13 }, (_, i) => createOccurrence(i)).flatMap((occurrence, i) =>
      Array.from({ length: i + 1 }, () => occurrence),
    )
    const { context, application_id } = await recordOccurrences(await freshStorage(database), occurrences, 'UTC')
    const { errors_by_type } = await perform(errorAnalytics, context, { application_id, days: 1 })
    expect(errors_by_type.types.map(({ count }) => count)).toEqual([13, 12, 11, 10, 9, 8, 7, 6, 5, 4])
    expect(errors_by_type.other).toEqual({ count: 6, type_count: 3, share: 6 / 91 })
  })

  test('the analytics count all occurrences of a storm when only a few are stored', async () => {
    const storage = await freshStorage(database)
    const storm = Array.from({ length: 1500 }, () => createOccurrence(0))
    const { context, application_id } = await recordOccurrences(storage, storm, 'UTC')
    const analytics = await perform(errorAnalytics, context, { application_id, days: 1 })
    expect(analytics.total_occurrences).toBe(1500)
    expect(analytics.errors_by_type.types).toMatchObject([{ count: 1500, error_count: 1, share: 1 }])
    expect(analytics.errors_by_weekday_and_hour[1]?.[10]).toBe(1500)
  })

  test('the analytics use local days when daylight saving time starts', async () => {
    // On March 29, 2026, Berlin skips the hour from 2 to 3. The day starts at 23:00 UTC and lasts 23 hours.
    const times = ['2026-03-28T22:59:59Z', '2026-03-28T23:00:00Z', '2026-03-29T01:00:00Z', '2026-03-29T21:59:59Z']
    const occurrences = [...times, '2026-03-29T22:00:00Z'].map((time) => ({
      ...createOccurrence(0),
      occurred_at: Date.parse(time),
    }))
    const { context, application_id } = await recordOccurrences(
      await freshStorage(database),
      occurrences,
      'Europe/Berlin',
    )
    const { errors_over_time, errors_by_weekday_and_hour } = await perform(errorAnalytics, context, {
      application_id,
      days: '4',
    })
    expect(errors_over_time.map(({ date, count }) => [date, count])).toEqual([
      ['2026-03-28', 1],
      ['2026-03-29', 3],
      ['2026-03-30', 1],
      ['2026-03-31', 0],
    ])
    expect(errors_by_weekday_and_hour[6]?.flatMap((count, hour) => (count ? [hour] : []))).toEqual([0, 3, 23])
  })

  test('the analytics report the time to resolve by severity, platform and week', async () => {
    const HOUR = 3_600_000
    const opened = NOW - 15 * 24 * HOUR
    const occurrences = [0, 1, 2, 3].map((i) => ({ ...createOccurrence(i), occurred_at: opened }))
    const { context, application_id, tracker, clock } = await recordOccurrences(
      await freshStorage(database),
      occurrences,
      'UTC',
    )
    const errors = await tracker.Queries.ErrorsList.call({ sort_by: 'error_type', sort_direction: 'asc' })
    // The errors first occur on Monday, March 16. Resolving them takes 1, 3 and 200 hours.
    for (const [i, hours] of [1, 3, 200].entries()) {
      clock.now = opened + hours * HOUR
      await tracker.Commands.ResolveError.call({ error_id: errors[i]?.id ?? 0 })
    }
    clock.now = NOW
    const { resolution } = await perform(errorAnalytics, context, { application_id, days: 30 })
    expect(resolution).toMatchObject({ error_count: 4, resolved_count: 3, resolution_rate: 0.75 })
    expect(resolution.time_to_resolve).toMatchObject({
      resolved_count: 3,
      median_ms: 3 * HOUR,
      mean_ms: 68 * HOUR,
      by_platform: [{ platform: 'Web', resolved_count: 3, median_ms: 3 * HOUR }],
    })
    expect(resolution.time_to_resolve.by_severity.find(({ severity }) => severity === 'high')).toEqual({
      severity: 'high',
      resolved_count: 3,
      median_ms: 3 * HOUR,
      mean_ms: 68 * HOUR,
    })
    expect(
      resolution.time_to_resolve.by_week.flatMap(({ week, median_ms }) => (median_ms ? [[week, median_ms]] : [])),
    ).toEqual([
      ['2026-03-16', 2 * HOUR],
      ['2026-03-23', 200 * HOUR],
    ])
  })

  test('the analytics list errors that are open for over a week and still occur', async () => {
    const DAY = 86_400_000
    const old = { ...createOccurrence(0), occurred_at: NOW - 9.5 * DAY }
    const occurrences = [
      old,
      { ...old, occurred_at: NOW - DAY },
      { ...createOccurrence(1), occurred_at: NOW - 9 * DAY },
      { ...createOccurrence(2), occurred_at: NOW - DAY },
    ]
    const { context, application_id } = await recordOccurrences(await freshStorage(database), occurrences, 'UTC')
    const { recurring_errors } = await perform(errorAnalytics, context, { application_id })
    expect(recurring_errors).toMatchObject([{ error_type: old.error_type, occurrence_count: 2, open_days: 9 }])
  })

  test('the analytics clamp days to 1 through 365 and reject invalid numbers', async () => {
    const { context } = await recordOccurrences(await freshStorage(database), [], 'UTC')
    const days = async (given: unknown) => (await perform(errorAnalytics, context, { days: given })).period.days
    expect(await days(undefined)).toBe(30)
    expect(await days('')).toBe(30)
    expect(await days('0')).toBe(1)
    expect(await days(-5)).toBe(1)
    expect(await days('400')).toBe(365)
    await expect(days('many')).rejects.toThrow('days must be a whole number from 1 to 365')
    await expect(days(Number.NaN)).rejects.toMatchObject({ code: 'invalid_input' })
    await expect(days(['7', '30'])).rejects.toMatchObject({ code: 'invalid_input' })
  })
})

function createOccurrence(kind: number): TestOccurrence {
  return {
    error_type: `Kind${String.fromCharCode(65 + kind)}Error`,
    message: 'alpha',
    file: 'cart',
    platform: 'Web',
    app_version: '1.0.0',
    severity: 'high',
    user_id: null,
    occurred_at: NOW - 60_000,
  }
}

function mapOf<Row, Key extends keyof Row, Value extends keyof Row>(rows: readonly Row[], key: Key, value: Value) {
  return Object.fromEntries(rows.map((row) => [row[key], row[value]]))
}

function errorsOf(occurrences: readonly TestOccurrence[], user: string): string[] {
  return distinct(
    occurrences.filter(({ user_id }) => user_id === user),
    errorKey,
  )
}

function heatMap(occurrences: readonly TestOccurrence[], timeZone: string): number[][] {
  const map = Array.from({ length: 7 }, () => new Array<number>(24).fill(0))
  for (const occurrence of occurrences) {
    const [weekday, hour] = weekdayAndHour(occurrence, timeZone)
    const row = map[weekday] ?? []
    row[hour] = (row[hour] ?? 0) + 1
  }
  return map
}
