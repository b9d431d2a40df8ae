import fc from 'fast-check'
import { expect, test } from 'vitest'
import { comparePlatforms } from '../../../src/analytics/platforms/platform-comparison.js'
import { perform } from '../../../src/operation.js'
import { describeEachDatabase } from '../../support/databases.js'
import { freshStorage } from '../../support/tracker.js'
import { NOW, randomOccurrences, recordOccurrences } from '../random-occurrences.js'
import {
  countBy,
  distinct,
  errorKey,
  inPeriod,
  inPeriodBefore,
  localDate,
  localDates,
  severityCounts,
  type TestOccurrence,
} from '../reference-statistics.js'

const DAY = 86_400_000

describeEachDatabase('PlatformComparison', (database) => {
  test('matches the reference counts', async () => {
    const storage = await freshStorage(database)
    const someDays = fc.constantFrom(1, 7, 20)
    const someZone = fc.constantFrom('UTC', 'Asia/Tokyo')
    await fc.assert(
      fc.asyncProperty(randomOccurrences, someDays, someZone, async (occurrences, days, timeZone) => {
        const { context, application_id } = await recordOccurrences(storage, occurrences, timeZone)
        const input = { now: NOW, days, timeZone }
        const comparison = await perform(comparePlatforms, context, { days, application_id })
        const seen = inPeriod(occurrences, input)
        const before = inPeriodBefore(occurrences, input)
        const rates = await comparison.errorRateByPlatform()
        expect(rates.map(({ platform }) => platform).sort()).toEqual(distinct(seen, ({ platform }) => platform).sort())
        for (const rate of rates) {
          const own = seen.filter(({ platform }) => platform === rate.platform)
          const earlier = before.filter(({ platform }) => platform === rate.platform)
          expect(rate).toEqual({
            platform: rate.platform,
            occurrences: own.length,
            share: own.length / seen.length,
            per_day: expect.closeTo(own.length / hoursOf(input) / (1 / 24)),
            before_count: earlier.length,
            growth: earlier.length === 0 ? null : (own.length - earlier.length) / earlier.length,
            severities: severityCounts(own),
            daily_counts: localDates(input).map(
              (date) => own.filter((occurrence) => localDate(occurrence, timeZone) === date).length,
            ),
          })
          const { top_errors } = await comparison.platformHealthSummary(rate.platform)
          expect(top_errors.map(({ count }) => count)).toEqual(
            Object.values(countBy(own, errorKey))
              .sort((a, b) => b - a)
              .slice(0, 20),
          )
        }
        const kinds = distinct(seen, typeAndFile)
          .map((kind) => seen.filter((occurrence) => typeAndFile(occurrence) === kind))
          .filter((own) => distinct(own, ({ platform }) => platform).length > 1)
        const crossing = await comparison.crossPlatformErrors()
        expect(crossing.map(({ count }) => count)).toEqual(kinds.map(({ length }) => length).sort((a, b) => b - a))
        for (const { error_type, place, platforms, error_ids } of crossing) {
          const own = seen.filter(
            (occurrence) => occurrence.error_type === error_type && place?.includes(occurrence.file),
          )
          expect(Object.fromEntries(platforms.map(({ platform, count }) => [platform, count]))).toEqual(
            countBy(own, ({ platform }) => platform),
          )
          expect(error_ids).toHaveLength(distinct(own, errorKey).length)
        }
      }),
      { numRuns: 6 },
    )
  }, 120_000)

  test('calculates the stability score by its formula', async () => {
    const occurrence = (
      kind: string,
      platform: string,
      severity: TestOccurrence['severity'],
      days: number,
    ): TestOccurrence => ({
      error_type: `${kind}Error`,
      message: 'alpha',
      file: 'cart',
      platform,
      app_version: '1.0.0',
      severity,
      user_id: null,
      occurred_at: NOW - days * DAY,
    })
    const occurrences = [
      // Web: two critical, one low; one of two errors resolved; one in the previous week, so it tripled.
      occurrence('Pay', 'Web', 'critical', 0),
      occurrence('Pay', 'Web', 'critical', 1),
      occurrence('Tip', 'Web', 'low', 2),
      occurrence('Tip', 'Web', 'low', 8),
      // iOS: one medium, open, new.
      occurrence('Map', 'iOS', 'medium', 3),
    ]
    const { context, application_id, tracker, clock } = await recordOccurrences(
      await freshStorage(database),
      occurrences,
      'UTC',
    )
    const [pay] = await tracker.Queries.ErrorsList.call({ error_type: 'PayError', application_id })
    clock.now = NOW - DAY + 3_600_000
    await tracker.Commands.ResolveError.call({ error_id: pay?.id ?? 0 })
    clock.now = NOW
    const comparison = await perform(comparePlatforms, context, { application_id })
    // 100 - 40 * (1 + 1 + 0.1) / 3 - 30 * 1/2 - 30 * 1 = 27 and 100 - 40 * 0.3 - 30 * 1 - 0 = 58
    expect(await comparison.platformStabilityScores()).toEqual([
      {
        platform: 'Web',
        stability_score: 27,
        status: 'unstable',
        error_count: 2,
        resolved_count: 1,
        resolution_rate: 0.5,
        median_time_to_resolve_ms: 3_600_000,
      },
      {
        platform: 'iOS',
        stability_score: 58,
        status: 'at_risk',
        error_count: 1,
        resolved_count: 0,
        resolution_rate: 0,
        median_time_to_resolve_ms: null,
      },
    ])
    expect(await comparison.platformHealthSummary('ios')).toMatchObject({
      platform: 'iOS',
      occurrences: 1,
      share: 0.25,
      growth: null,
      stability_score: 58,
      top_errors: [{ error_type: 'MapError', count: 1 }],
    })
    expect(await comparison.platformHealthSummary('Fridge')).toMatchObject({
      platform: 'Fridge',
      occurrences: 0,
      stability_score: null,
      status: 'quiet',
      daily_counts: [0, 0, 0, 0, 0, 0, 0],
      top_errors: [],
    })
    await expect(comparison.platformHealthSummary('  ')).rejects.toThrow('platform must not be empty')
    await expect(comparison.platformHealthSummary(undefined as never)).rejects.toThrow('platform is missing')
  })

  test('queries again after a failure', async () => {
    const { context } = await recordOccurrences(await freshStorage(database), [], 'UTC')
    let away = true
    const now = () => {
      if (away) throw new Error('the database is away')
      return NOW
    }
    const comparison = await perform(comparePlatforms, { ...context, now })
    await expect(comparison.errorRateByPlatform()).rejects.toThrow('away')
    away = false
    expect(await comparison.errorRateByPlatform()).toEqual([])
  })

  test('filters by application and includes all applications without a filter', async () => {
    const storage = await freshStorage(database)
    const occurrence: TestOccurrence = {
      error_type: 'PayError',
      message: 'alpha',
      file: 'cart',
      platform: 'Web',
      app_version: '1.0.0',
      severity: 'low',
      user_id: null,
      occurred_at: NOW,
    }
    const shop = await recordOccurrences(storage, [occurrence, occurrence], 'UTC')
    const billing = await recordOccurrences(storage, [{ ...occurrence, platform: 'iOS' }], 'UTC')
    const rates = async (application_id?: number | string) =>
      (await perform(comparePlatforms, shop.context, { application_id: application_id ?? null })).errorRateByPlatform()
    expect((await rates(shop.application_id)).map(({ platform }) => platform)).toEqual(['Web'])
    expect((await rates(String(billing.application_id))).map(({ platform }) => platform)).toEqual(['iOS'])
    expect((await rates()).map(({ occurrences }) => occurrences)).toEqual([2, 1])
    const all = await perform(comparePlatforms, shop.context)
    expect(await all.crossPlatformErrors()).toMatchObject([{ error_type: 'PayError', count: 3 }])
    const shopAlone = await perform(comparePlatforms, shop.context, { application_id: shop.application_id })
    expect(await shopAlone.crossPlatformErrors()).toEqual([])
    await expect(perform(comparePlatforms, shop.context, { days: 'week' })).rejects.toThrow(
      'days must be a whole number from 1 to 365',
    )
  })
})

function typeAndFile({ error_type, file }: TestOccurrence): string {
  return `${error_type} ${file}`
}

/** Elapsed hours of the period, for zones without daylight saving time. */
function hoursOf({ now, days, timeZone }: { now: number; days: number; timeZone: string }): number {
  const offset = timeZone === 'Asia/Tokyo' ? 9 : 0
  return (days - 1) * 24 + ((Math.floor(now / 3_600_000) + offset) % 24) + 1
}
