import fc from 'fast-check'
import { expect, test } from 'vitest'
import { correlateErrors } from '../../../src/analytics/correlation/error-correlation.js'
import { releaseChanges } from '../../../src/analytics/releases/release-changes.js'
import { perform } from '../../../src/operation.js'
import { describeEachDatabase } from '../../support/databases.js'
import { freshStorage } from '../../support/tracker.js'
import { NOW, randomOccurrences, recordOccurrences } from '../random-occurrences.js'
import { correlation, distinct, errorKey, hourOf, inPeriod, type TestOccurrence } from '../reference-statistics.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

describeEachDatabase('ErrorCorrelation', (database) => {
  test('matches the reference for users with several errors and correlated types', async () => {
    const storage = await freshStorage(database)
    // Uses few hours, so that types share hours.
    const crowded = randomOccurrences.map((occurrences) =>
      occurrences.map((occurrence) => ({
        ...occurrence,
        occurred_at:
          NOW - ((NOW - occurrence.occurred_at) % (20 * HOUR)) - (occurrence.message === 'beta' ? 3 * DAY : 0),
      })),
    )
    await fc.assert(
      fc.asyncProperty(crowded, fc.constantFrom(1, 5), async (occurrences, days) => {
        const { context, application_id } = await recordOccurrences(storage, occurrences, 'UTC')
        const query = await perform(correlateErrors, context, { days, application_id })
        const seen = inPeriod(occurrences, { now: NOW, days, timeZone: 'UTC' })
        const users = distinct(seen, ({ user_id }) => user_id)
          .map((user) => ({ user_id: user, error_count: distinct(of(seen, 'user_id', user), errorKey).length }))
          .filter(({ error_count }) => error_count > 1)
        const found = await query.multiErrorUsers()
        expect(found.map(({ user_id, error_count }) => ({ user_id, error_count }))).toEqual(
          expect.arrayContaining(users),
        )
        expect(found).toHaveLength(users.length)
        for (const { app_version, occurrences, error_count } of await query.errorsByVersion()) {
          const own = of(seen, 'app_version', app_version)
          expect([occurrences, error_count]).toEqual([own.length, distinct(own, errorKey).length])
        }
        const pairs = await query.timeCorrelatedErrors()
        expect(new Map(pairs.map((pair) => [pair.error_types.toSorted().join(), pair]))).toEqual(
          new Map(
            correlatedTypes(seen, days).map((pair) => [pair.error_types.join(), expect.objectContaining(pair.figures)]),
          ),
        )
      }),
      { numRuns: 6 },
    )
  }, 120_000)

  test('matches the reference for the figures of each release', async () => {
    const storage = await freshStorage(database)
    await fc.assert(
      fc.asyncProperty(randomOccurrences, async (occurrences) => {
        const { context, application_id } = await recordOccurrences(storage, occurrences, 'UTC')
        const bySight = distinct(
          occurrences.toSorted(
            (a, b) =>
              a.occurred_at - b.occurred_at || VERSIONS.indexOf(a.app_version) - VERSIONS.indexOf(b.app_version),
          ),
          ({ app_version }) => app_version,
        )
        // Only these two names can be compared, if no other release lies between them.
        const order = bySight.join().replace('1.10.0,1.9.0', '1.9.0,1.10.0').split(',').filter(Boolean)
        for (const [i, version] of order.entries()) {
          const changes = await releaseChanges(context, { application_id, environment: undefined }, version, 100)
          expect(changes).toMatchObject({ app_version: version, before_version: order[i - 1] ?? null })
          const groups = distinct(occurrences, errorKey).map((group) =>
            countsOf(occurrences, group, version, order[i - 1]),
          )
          const news = groups.filter(({ is_new }) => is_new)
          expect(changes?.new_count).toBe(news.length)
          expect(changes?.new_errors.map(({ count }) => count)).toEqual(sorted(news.map(({ count }) => count)))
          const gone = groups.filter(({ count, before }) => count === 0 && before > 0)
          expect(changes?.gone_errors.map(({ before_count }) => before_count)).toEqual(
            sorted(gone.map(({ before }) => before)),
          )
          const rate = daysOf(occurrences, version) / daysOf(occurrences, order[i - 1] ?? '')
          const worse = groups.filter(
            ({ is_new, count, before }) => !is_new && before > 0 && count >= 5 && count >= 2 * rate * before,
          )
          expect(changes?.worse_errors.map(({ count }) => count)).toEqual(sorted(worse.map(({ count }) => count)))
        }
        expect(
          await releaseChanges(context, { application_id, environment: undefined }, 'no such version', 10),
        ).toBeNull()
      }),
      { numRuns: 5 },
    )
  }, 120_000)

  test('reports releases that are worse than their predecessor, with the reasons', async () => {
    const occurrences = [
      // 1.0.0: ten low occurrences over ten days, one error.
      ...times(10, (i) => createOccurrence({ app_version: '1.0.0', occurred_at: NOW - 20 * DAY + i * DAY })),
      // 1.1.0: the same rate.
      ...times(10, (i) => createOccurrence({ app_version: '1.1.0', occurred_at: NOW - 10 * DAY + i * (DAY / 2) })),
      // 1.2.0: thirty within a day, critical, with three new errors.
      ...times(30, (i) =>
        createOccurrence({
          app_version: '1.2.0',
          occurred_at: NOW - DAY + i * 1000,
          severity: 'critical',
          error_type: `New${'ABC'.charAt(i % 3)}Error`,
        }),
      ),
    ]
    const { context, application_id } = await recordOccurrences(await freshStorage(database), occurrences, 'UTC')
    const query = await perform(correlateErrors, context, { days: 30, application_id })
    const [worst, ...others] = await query.problematicReleases()
    expect(worst).toMatchObject({
      app_version: '1.2.0',
      reasons: ['more_occurrences', 'more_severe', 'more_new_errors'],
      occurrences: 30,
      per_day: 30,
      severe_share: 1,
      new_error_count: 3,
      before: { app_version: '1.1.0', severe_share: 0, new_error_count: 0 },
    })
    expect(others.map(({ app_version, reasons }) => [app_version, reasons])).toEqual([['1.1.0', ['more_occurrences']]])
    expect((await query.errorsByVersion()).map((version) => [version.app_version, version.new_error_count])).toEqual([
      ['1.2.0', 3],
      ['1.1.0', 0],
      ['1.0.0', 1],
    ])
    const recent = await perform(correlateErrors, context, { days: 1, application_id })
    expect(await recent.problematicReleases()).toEqual([])
  })

  test('compares a release only with its predecessor in the same application', async () => {
    const storage = await freshStorage(database)
    const shop = await recordOccurrences(
      storage,
      [
        ...times(10, () =>
          createOccurrence({ app_version: '1.0.0', occurred_at: NOW - 3 * DAY, severity: 'critical' }),
        ),
        ...times(10, () => createOccurrence({ app_version: '1.1.0', occurred_at: NOW - DAY, severity: 'critical' })),
      ],
      'UTC',
    )
    const billing = await recordOccurrences(
      storage,
      times(10, () => createOccurrence({ app_version: '9.0.0', occurred_at: NOW - 2 * DAY })),
      'UTC',
    )
    const query = await perform(correlateErrors, shop.context)
    expect(await query.problematicReleases()).toEqual([])
    expect((await query.errorsByVersion()).map((version) => [version.application_id, version.app_version])).toEqual([
      [shop.application_id, '1.1.0'],
      [billing.application_id, '9.0.0'],
      [shop.application_id, '1.0.0'],
    ])
    const everywhere = { application_id: undefined, environment: undefined }
    expect(await releaseChanges(shop.context, everywhere, undefined, 10)).toMatchObject({
      application_id: shop.application_id,
      app_version: '1.1.0',
      before_version: '1.0.0',
      gone_count: 0,
    })
    expect(await releaseChanges(shop.context, everywhere, '9.0.0', 10)).toMatchObject({ before_version: null })
  })

  test('finds a perfectly correlated pair among more frequent types', async () => {
    const pair = times(12, (i) => NOW - (i * 37 + 1) * HOUR).flatMap((occurred_at) =>
      ['LeftError', 'RightError'].map((error_type) => createOccurrence({ error_type, occurred_at })),
    )
    const frequent = times(14, (kind) =>
      times(30, (i) =>
        createOccurrence({
          error_type: `Random${'ABCDEFGHIJKLMN'.charAt(kind)}Error`,
          occurred_at: NOW - ((i * (kind * 2 + 17) * 13 + kind * 7) % (29 * 24)) * HOUR,
        }),
      ),
    )
    const { context, application_id } = await recordOccurrences(
      await freshStorage(database),
      [...pair, ...frequent.flat()],
      'UTC',
    )
    const query = await perform(correlateErrors, context, { days: 30, application_id })
    expect((await query.timeCorrelatedErrors())[0]).toMatchObject({
      error_types: ['LeftError', 'RightError'],
      correlation: expect.closeTo(1, 10),
      shared_hours: 12,
      counts: [12, 12],
    })
  })

  test('excludes types with few shared hours and types with a constant rate', async () => {
    const occurrences = [0, 1].flatMap((hour) =>
      ['A', 'B'].map((kind) => createOccurrence({ error_type: `${kind}Error`, occurred_at: NOW - hour * HOUR })),
    )
    const { context, application_id } = await recordOccurrences(await freshStorage(database), occurrences, 'UTC')
    const query = await perform(correlateErrors, context, { days: 2, application_id })
    expect(await query.timeCorrelatedErrors()).toEqual([])
    expect(await query.multiErrorUsers()).toEqual([])
  })
})

const VERSIONS = ['1.9.0', '1.10.0', 'a1b2c3d']

function createOccurrence(more: Partial<TestOccurrence>): TestOccurrence {
  return {
    error_type: 'PayError',
    message: 'alpha',
    file: 'cart',
    platform: 'Web',
    app_version: '1.0.0',
    severity: 'low',
    user_id: null,
    occurred_at: NOW,
    ...more,
  }
}

function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i))
}

function of<Key extends keyof TestOccurrence>(
  occurrences: readonly TestOccurrence[],
  key: Key,
  value: TestOccurrence[Key],
): TestOccurrence[] {
  return occurrences.filter((occurrence) => occurrence[key] === value)
}

function sorted(counts: readonly number[]): number[] {
  return counts.toSorted((a, b) => b - a)
}

function countsOf(occurrences: readonly TestOccurrence[], group: string, version: string, before: string | undefined) {
  const own = occurrences.filter((occurrence) => errorKey(occurrence) === group)
  const oldest = Math.min(...own.map(({ occurred_at }) => occurred_at))
  const first = own.find(({ occurred_at }) => occurred_at === oldest)
  return {
    is_new: first?.app_version === version,
    count: of(own, 'app_version', version).length,
    before: before === undefined ? 0 : of(own, 'app_version', before).length,
  }
}

function daysOf(occurrences: readonly TestOccurrence[], version: string): number {
  const hours = of(occurrences, 'app_version', version).map(({ occurred_at }) => hourOf(occurred_at))
  return Math.max(1, (Math.max(...hours) + HOUR - Math.min(...hours)) / DAY)
}

function correlatedTypes(seen: readonly TestOccurrence[], days: number) {
  const hours = times((days - 1) * 24 + (Math.floor(NOW / HOUR) % 24) + 1, (i) => hourOf(NOW) - i * HOUR)
  const types = distinct(seen, ({ error_type }) => error_type).sort()
  const series = (type: string) =>
    hours.map(
      (hour) => of(seen, 'error_type', type).filter((occurrence) => hourOf(occurrence.occurred_at) === hour).length,
    )
  return types.flatMap((a, i) =>
    types.slice(i + 1).flatMap((b) => {
      const [ofA, ofB] = [series(a), series(b)]
      const shared_hours = ofA.filter((count, hour) => count > 0 && (ofB[hour] ?? 0) > 0).length
      const coefficient = correlation(ofA, ofB)
      if (!(coefficient >= 0.7) || shared_hours < 3) return []
      return [{ error_types: [a, b], figures: { shared_hours, correlation: expect.closeTo(coefficient, 10) } }]
    }),
  )
}
