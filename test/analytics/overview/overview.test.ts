import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Overview } from '../../../src/analytics/overview/overview.js'
import { describeEachDatabase } from '../../support/databases.js'
import { type Host, startHost } from '../../support/host.js'
import { temporaryFolder, trackerAt } from '../../support/tracker.js'
import { expectedOverview, replay, type TestAction, type TestOccurrence } from '../reference-overview.js'

const MINUTE = 60_000
/** Four days after daylight saving time started in Berlin. */
const NOW = Date.parse('2026-04-02T10:20:00Z')
/** Midnight of the day of that change and of the next day, in Berlin and in Kolkata. */
const EDGES = ['2026-03-28T23:00Z', '2026-03-29T22:00Z', '2026-03-29T18:30Z', '2026-04-01T22:00Z', '2026-04-01T18:30Z']

const time = fc.oneof(
  fc.integer({ min: 0, max: 65 * 24 * 60 }).map((minutes) => NOW - minutes * MINUTE),
  fc.integer({ min: 0, max: 8 * 24 * 60 }).map((minutes) => NOW - minutes * MINUTE),
  fc
    .tuple(fc.constantFrom(...EDGES), fc.constantFrom(-30 * MINUTE, -1, 0, 1, 29 * MINUTE))
    .map(([edge, by]) => Date.parse(edge) + by),
)
const occurrence: fc.Arbitrary<TestOccurrence> = fc.record({
  type: fc.integer({ min: 0, max: 11 }),
  occurred_at: time,
  platform: fc.constantFrom('API', 'Web', 'iOS'),
  app_version: fc.constantFrom('1.0', '1.1', '2.0'),
  user_id: fc.option(
    fc.integer({ min: 1, max: 15 }).map((n) => `user-${n}`),
    { nil: null },
  ),
})
const action: fc.Arbitrary<TestAction> = fc.record({
  type: fc.integer({ min: 0, max: 11 }),
  name: fc.constantFrom('resolve', 'reopen', 'assign', 'snooze'),
  at: fc.integer({ min: 0, max: 62 * 24 }).map((hours) => NOW - hours * 60 * MINUTE),
})

/** Within the week by the minute but not by whole hours, because midnight in Kolkata splits the hour. */
const IN_SPLIT_HOUR: TestOccurrence[] = ['2026-03-26T18:37Z', '2026-04-02T10:19Z'].map((at, type) => ({
  ...{ type, occurred_at: Date.parse(at), platform: 'API', app_version: '2.0', user_id: 'user-6' },
}))

describeEachDatabase('the overview', (database) => {
  let url: string
  let hosts: Record<string, Host>
  let application = 0

  beforeAll(async () => {
    url = await database.fresh()
    const hostIn = (time_zone: string) =>
      startHost(url, { time_zone, application_name: 'host', rate_limit_per_minute: 10_000 }, { now: () => NOW })
    hosts = { 'Europe/Berlin': await hostIn('Europe/Berlin'), 'Asia/Kolkata': await hostIn('Asia/Kolkata') }
  })

  afterAll(async () => {
    for (const host of Object.values(hosts ?? {})) await host.close()
  })

  const overviewOf = async (time_zone: string, application_id?: number) =>
    (await hosts[time_zone]?.json(
      `/overview${application_id ? `?application_id=${application_id}` : ''}`,
    )) as unknown as (Overview & Overview['stats']) | undefined

  test.each(['Europe/Berlin', 'Asia/Kolkata'])(
    'matches the reference for each application in %s',
    async (time_zone) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(occurrence, { minLength: 1, maxLength: 80 }),
          fc.array(action, { maxLength: 12 }),
          async (occurrences, actions) => {
            const name = `application ${application++}`
            const { tracker, clock } = trackerAt({ url, spool_path: temporaryFolder() }, { application_name: name })
            const records = await replay(tracker, clock, { now: NOW, occurrences, actions })
            const all = await tracker.Queries.Applications.call()
            const found = await overviewOf(time_zone, all.find((application) => application.name === name)?.id)
            expect(found).toMatchObject(expectedOverview(records, { now: NOW, time_zone, occurrences }))
          },
        ),
        { numRuns: 3, endOnFailure: true, examples: [[IN_SPLIT_HOUR, []]] },
      )
    },
  )

  test('includes all applications without a filter', async () => {
    const parts = await Promise.all(
      ((await hosts['Asia/Kolkata']?.tracker.Queries.Applications.call()) ?? []).map(({ id }) =>
        overviewOf('Asia/Kolkata', id),
      ),
    )
    const whole = await overviewOf('Asia/Kolkata')
    const sum = (value: (overview: Overview & Overview['stats']) => number) =>
      parts.reduce((total, part) => total + (part ? value(part) : 0), 0)
    expect(whole?.bars.map(({ total }) => total).reduce((a, b) => a + b)).toBe(
      sum(({ bars }) => bars.reduce((total, bar) => total + bar.total, 0)),
    )
    expect(whole?.unresolved.count).toBe(sum(({ unresolved }) => unresolved.count))
    expect(whole?.new_errors.count).toBe(sum(({ new_errors }) => new_errors.count))
    expect(whole?.unattended.count).toBe(sum(({ unattended }) => unattended.count))
    expect(whole?.time_to_resolve.count).toBe(sum(({ time_to_resolve }) => time_to_resolve.count))
  })

  test('five minutes of the overview and of an error add up to the occurrences of the hour', async () => {
    const name = `application ${application++}`
    const { tracker, clock } = trackerAt({ url, spool_path: temporaryFolder() }, { application_name: name })
    clock.now = NOW
    const log = (minutes: number, app_version: string) =>
      tracker.Commands.LogError.call({
        ...{ error_type: 'Recent', message: 'm', severity: 'high', app_version },
        occurred_at: NOW - minutes * MINUTE,
      })
    // An older occurrence, so that the previous hour can be compared.
    await log(200, '1.0')
    const [error] = [await log(1, '2.0'), await log(12, '2.0'), await log(14, '1.0'), await log(100, '1.0')]
    const application_id = (await tracker.Queries.Applications.call()).find(
      (application) => application.name === name,
    )?.id
    const { bars, occurrences, release_markers } = await tracker.Queries.Overview.call({ range: '1h', application_id })
    const counted = [
      { starts_at: '2026-04-02T10:05:00.000Z', total: 2, high: 2 },
      { starts_at: '2026-04-02T10:15:00.000Z', total: 1, high: 1 },
    ]
    expect(bars.filter(({ total }) => total > 0)).toMatchObject(counted)
    expect(occurrences).toEqual({ count: 3, before: 1 })
    expect(release_markers).toMatchObject([{ app_version: '2.0', first_seen_at: '2026-04-02T10:08:00.000Z' }])
    const history = await tracker.Queries.ErrorHistory.call({ error_id: error?.id ?? 0, range: '1h' })
    expect(history.bars.filter(({ count }) => count > 0)).toEqual(
      counted.map(({ starts_at, total }) => ({ starts_at, count: total })),
    )
  })

  test('the overview is empty for an unknown application', async () => {
    const empty = await hosts['Europe/Berlin']?.tracker.Queries.Overview.call({ application_id: 999_999 })
    expect(empty).toMatchObject({
      stats: { total_errors: 0 },
      occurrences: { count: 0, before: null },
      affected_users: { count: 0, before: null },
      time_to_resolve: { count: 0, median_ms: null, mean_ms: null },
      new_errors: { count: 0, errors: [] },
      top_by_impact: [],
      platforms: [],
      releases: [],
    })
  })
})
