import fc from 'fast-check'
import { expect, test } from 'vitest'
import { releaseChanges } from '../../../src/analytics/releases/release-changes.js'
import { type ListedRelease, releaseList } from '../../../src/analytics/releases/release-list.js'
import { perform } from '../../../src/operation.js'
import { describeEachDatabase } from '../../support/databases.js'
import { freshStorage, freshTracker } from '../../support/tracker.js'
import { contextAt, NOW, randomOccurrences, recordOccurrences } from '../random-occurrences.js'
import {
  distinct,
  errorKey,
  inPeriod,
  localDate,
  localDates,
  severityCounts,
  type TestOccurrence,
} from '../reference-statistics.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

describeEachDatabase('the list of releases', (database) => {
  test('reports new, gone, worse and regressed errors of each release', async () => {
    const { tracker, clock, ...storage } = await freshTracker(database, { time_zone: 'Europe/Berlin' })
    const { Commands, Queries } = tracker
    const context = contextAt(storage, clock, 'Europe/Berlin')
    const log = async (error_type: string, app_version: string, occurred_at: number, count = 1, more = {}) => {
      clock.now = occurred_at
      const occurrence = { error_type, message: 'm', severity: 'low' as const, app_version, occurred_at, ...more }
      await Promise.all(Array.from({ length: count }, () => Commands.LogError.call(occurrence)))
    }
    // 1.9.0: three errors on one day, of which one is resolved before the next release.
    await log('Gone', '1.9.0', NOW - 9 * DAY + 1234, 2)
    await log('Worse', '1.9.0', NOW - 9 * DAY + 5000, 3)
    await log('Fixed', '1.9.0', NOW - 9 * DAY + 6000)
    const [fixed] = await Queries.ErrorsList.call({ error_type: 'Fixed' })
    await Commands.ResolveError.call({ error_id: fixed?.id ?? 0 })
    // 1.10.0, also within one day: one error is worse, one regressed, two are new, of which one is resolved by now.
    await log('Worse', '1.10.0', NOW - 2 * DAY + 77, 6, { severity: 'critical' })
    await log('Fixed', '1.10.0', NOW - 2 * DAY + 1000)
    await log('New', '1.10.0', NOW - 2 * DAY + 2000, 2)
    await log('Brief', '1.10.0', NOW - 2 * DAY + 3000, 3)
    const [brief] = await Queries.ErrorsList.call({ error_type: 'Brief' })
    clock.now = NOW
    await Commands.ResolveError.call({ error_id: brief?.id ?? 0 })
    const { releases, trend_dates, pagination } = await perform(releaseList, context, { days: 30 })
    expect(releases).toEqual([
      {
        application_id: expect.any(Number),
        app_version: '1.10.0',
        before_version: '1.9.0',
        first_seen_at: new Date(NOW - 2 * DAY + 77).toISOString(),
        last_seen_at: new Date(hour(NOW - 2 * DAY)).toISOString(),
        occurrences: 12,
        share: 12 / 18,
        severities: { critical: 6, high: 0, medium: 0, low: 6 },
        per_day: 12,
        trend: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0],
        new_count: 2,
        open_new_count: 1,
        regressed_count: 1,
        gone_count: 1,
        worse_count: 1,
        // 40 × mean weight 0.55, 30 × one of two new errors open, 30 × doubled daily rate.
        stability_score: 100 - 22 - 15 - 30,
        status: 'unstable',
      },
      expect.objectContaining({
        app_version: '1.9.0',
        before_version: null,
        first_seen_at: new Date(NOW - 9 * DAY + 1234).toISOString(),
        occurrences: 6,
        trend: [0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        // The regressed error is open again.
        new_count: 3,
        open_new_count: 3,
        regressed_count: 0,
        gone_count: 0,
        worse_count: 0,
        stability_score: 100 - 4 - 30,
      }),
    ])
    expect([trend_dates[0], trend_dates.at(-1)]).toEqual(['2026-03-18', '2026-03-31'])
    expect(pagination).toEqual({ page: 1, per_page: 20, total_count: 2, total_pages: 1 })
    expect((await perform(releaseList, context, { days: 5 })).releases.map(({ app_version }) => app_version)).toEqual([
      '1.10.0',
    ])
    const release = (await tracker.Queries.ErrorAnalytics.call({ app_version: '1.10.0' })).release
    expect(release).toMatchObject({ regressed_count: 1, regressed_errors: [{ error_type: 'Fixed' }] })
    expect(release?.first_seen_at).toBe(new Date(NOW - 2 * DAY + 77).toISOString())
  })

  test('matches the reference on every local day across a daylight saving change', async () => {
    const storage = await freshStorage(database)
    await fc.assert(
      fc.asyncProperty(randomOccurrences, fc.constantFrom(3, 30), async (occurrences, days) => {
        const timeZone = 'Europe/Berlin'
        const { context, application_id } = await recordOccurrences(storage, occurrences, timeZone)
        const { releases } = await perform(releaseList, context, { days, application_id })
        const seen = inPeriod(occurrences, { now: NOW, days, timeZone })
        const bySight = distinct(
          occurrences.toSorted((a, b) => a.occurred_at - b.occurred_at || byVersion(a, b)),
          ({ app_version }) => app_version,
        )
        // Only these two names can be compared, if no other release lies between them.
        const order = bySight.join().replace('1.10.0,1.9.0', '1.9.0,1.10.0').split(',').filter(Boolean)
        const reported = order.filter((version) => seen.some(({ app_version }) => app_version === version)).reverse()
        expect(releases.map(({ app_version }) => app_version)).toEqual(reported)
        for (const release of releases) {
          const own = seen.filter(({ app_version }) => app_version === release.app_version)
          const dates = localDates({ now: NOW, days: Math.min(days, 14), timeZone })
          expect(release).toMatchObject({
            occurrences: own.length,
            severities: severityCounts(own),
            trend: dates.map((date) => own.filter((occurrence) => localDate(occurrence, timeZone) === date).length),
            first_seen_at: new Date(Math.min(...timesOf(occurrences, release))).toISOString(),
            new_count: newIn(occurrences, release.app_version),
          })
          const changes = await releaseChanges(
            context,
            { application_id, environment: undefined },
            release.app_version,
            1,
          )
          expect(changes).toMatchObject({ gone_count: release.gone_count, worse_count: release.worse_count })
        }
      }),
      { numRuns: 5 },
    )
  }, 120_000)

  test('shows twenty releases per page and filters by application', async () => {
    const storage = await freshStorage(database)
    const builds = Array.from({ length: 43 }, (_, i) =>
      createOccurrence({ app_version: `1.${i}`, occurred_at: NOW - (43 - i) * 1000 }),
    )
    const shop = await recordOccurrences(storage, builds, 'UTC')
    const billing = await recordOccurrences(
      storage,
      [createOccurrence({ app_version: '1.7', occurred_at: NOW - DAY })],
      'UTC',
    )
    const listReleases = (input: object) => perform(releaseList, shop.context, input)
    const { application_id } = shop
    expect((await listReleases({ application_id })).releases.map(({ app_version }) => app_version)).toEqual(
      builds
        .map(({ app_version }) => app_version)
        .slice(-20)
        .reverse(),
    )
    const last = await listReleases({ application_id, page: 99 })
    expect(last.pagination).toEqual({ page: 3, per_page: 20, total_count: 43, total_pages: 3 })
    expect(last.releases.map(({ app_version }) => app_version)).toEqual(['1.2', '1.1', '1.0'])
    expect((await listReleases({ application_id: billing.application_id })).releases).toMatchObject([
      { app_version: '1.7', occurrences: 1, new_count: 1, gone_count: 0, before_version: null },
    ])
    expect((await listReleases({})).pagination.total_count).toBe(44)
    expect((await listReleases({ application_id: 12_345 })).releases).toEqual([])
  })

  test('orders a late old version by its number and ignores commits', async () => {
    const storage = await freshStorage(database)
    const occurrences = ['2.0.0', '1.9.9', '2.0.1', '1.0.0'].map((app_version, i) =>
      createOccurrence({ app_version, occurred_at: NOW - DAY + i * HOUR }),
    )
    const { context, application_id, tracker } = await recordOccurrences(storage, occurrences, 'UTC')
    await tracker.Commands.LogError.call({
      ...createOccurrence({ app_version: '2.0.0' }),
      user_id: undefined,
      git_sha: 'fff',
    })
    const others = await recordOccurrences(
      storage,
      [
        createOccurrence({ app_version: '5.0', occurred_at: NOW - DAY + HOUR / 2 }),
        createOccurrence({ app_version: '4.0' }),
      ],
      'UTC',
    )
    const { releases } = await perform(releaseList, context, { application_id })
    expect(releases.map(({ app_version, before_version }) => [app_version, before_version])).toEqual([
      ['2.0.1', '2.0.0'],
      ['2.0.0', '1.9.9'],
      ['1.9.9', '1.0.0'],
      ['1.0.0', null],
    ])
    expect(releases[1]?.first_seen_at).toBe(new Date(NOW - DAY).toISOString())
    expect(await releaseChanges(context, { application_id, environment: undefined }, undefined, 5)).toMatchObject({
      app_version: '2.0.1',
      before_version: '2.0.0',
      versions: ['2.0.1', '2.0.0', '1.9.9', '1.0.0'],
    })
    const both = (await perform(releaseList, context, {})).releases.map(({ app_version }) => app_version)
    expect(both).toEqual(['2.0.1', '5.0', '4.0', '2.0.0', '1.9.9', '1.0.0'])
    expect(others.application_id).not.toBe(application_id)
  })

  test('compares any two releases of an application', async () => {
    const log = (error_type: string, app_version: string, daysAgo: number, count = 1) =>
      times(count, () => createOccurrence({ error_type, app_version, occurred_at: NOW - daysAgo * DAY }))
    const occurrences = [
      ...log('OldError', '1.0', 30, 4),
      ...log('SteadyError', '1.0', 30),
      ...log('MiddleError', '1.1', 20, 3),
      ...log('SteadyError', '1.1', 20),
      ...log('MiddleError', '1.2', 10, 2),
      ...log('SteadyError', '1.2', 10, 9),
      ...log('NewError', '1.2', 10),
    ]
    const { context, application_id } = await recordOccurrences(await freshStorage(database), occurrences, 'UTC')
    const compare = async (version: string, compareWith?: string) => {
      const changes = await releaseChanges(context, { application_id, environment: undefined }, version, 5, compareWith)
      const named = (errors: readonly { error_type: string; before_count: number; count: number }[] = []) =>
        errors.map(({ error_type, before_count, count }) => `${error_type} ${before_count} ${count}`)
      return {
        before_version: changes?.before_version,
        comparable_versions: changes?.comparable_versions,
        new: named(changes?.new_errors),
        gone: named(changes?.gone_errors),
        worse: named(changes?.worse_errors),
      }
    }
    const withPrevious = {
      before_version: '1.1',
      comparable_versions: ['1.1', '1.0'],
      new: ['NewError 0 1'],
      gone: [],
      worse: ['SteadyError 1 9'],
    }
    expect(await compare('1.2')).toEqual(withPrevious)
    expect(await compare('1.2', '1.1')).toEqual(withPrevious)
    expect(await compare('1.2', '1.0')).toEqual({
      before_version: '1.0',
      comparable_versions: ['1.1', '1.0'],
      new: ['MiddleError 0 2', 'NewError 0 1'],
      gone: ['OldError 4 0'],
      worse: ['SteadyError 1 9'],
    })
    expect(await compare('1.0', '1.2')).toMatchObject({
      new: ['OldError 0 4'],
      gone: ['MiddleError 2 0', 'NewError 1 0'],
      worse: [],
    })
    await expect(compare('1.2', '1.2')).rejects.toThrow('must differ from app_version')
    await expect(compare('1.2', '9.9')).rejects.toThrow('Cannot compare with 9.9')
  })

  test('counts only the last year of a long-lived release', async () => {
    const storage = await freshStorage(database)
    const occurrences = [
      ...times(9, () => createOccurrence({ app_version: '1.0', occurred_at: NOW - 500 * DAY })),
      createOccurrence({ app_version: '1.0', occurred_at: NOW - 20 * DAY }),
      ...times(5, () => createOccurrence({ app_version: '2.0', occurred_at: NOW - 10 * DAY })),
    ]
    const { context, application_id } = await recordOccurrences(storage, occurrences, 'UTC')
    const { releases } = await perform(releaseList, context, { application_id })
    // From one occurrence per day to five. The nine older occurrences do not count.
    expect(releases.map(({ app_version, worse_count }) => [app_version, worse_count])).toEqual([
      ['2.0', 1],
      ['1.0', 0],
    ])
    expect(releases[1]?.first_seen_at).toBe(new Date(NOW - 500 * DAY).toISOString())
  })
})

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

function times<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make)
}

function hour(time: number): number {
  return time - (time % HOUR)
}

const VERSIONS = ['1.9.0', '1.10.0', 'a1b2c3d']

function byVersion(a: TestOccurrence, b: TestOccurrence): number {
  return VERSIONS.indexOf(a.app_version) - VERSIONS.indexOf(b.app_version)
}

function timesOf(occurrences: readonly TestOccurrence[], { app_version }: ListedRelease): number[] {
  return occurrences
    .filter((occurrence) => occurrence.app_version === app_version)
    .map(({ occurred_at }) => occurred_at)
}

function newIn(occurrences: readonly TestOccurrence[], version: string): number {
  return distinct(occurrences, errorKey).filter((group) => {
    const own = occurrences.filter((occurrence) => errorKey(occurrence) === group)
    const oldest = Math.min(...own.map(({ occurred_at }) => occurred_at))
    return own.find(({ occurred_at }) => occurred_at === oldest)?.app_version === version
  }).length
}
