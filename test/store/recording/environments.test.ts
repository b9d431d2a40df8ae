import { expect, test } from 'vitest'
import { FoldedGroup, type FoldedGroupJson } from '../../../src/store/recording/folded-group.js'
import { describeEachDatabase, describeOneDatabase } from '../../support/databases.js'
import { verifiedCounts } from '../../support/stored-counts.js'
import { freshStorage, freshTracker, NOON, type TrackerStorage, trackerAt } from '../../support/tracker.js'

const HOUR = 3_600_000
const ERROR = { error_type: 'Broken', message: 'm' }

describeEachDatabase('an error in two environments', (database) => {
  const inEnvironment = (storage: TrackerStorage, environment: string) => trackerAt(storage, { environment })

  test('two processes in two environments create two records with the same signature', async () => {
    const storage = await freshStorage(database)
    const trackers = ['production', 'staging', 'staging'].map(
      (environment) => inEnvironment(storage, environment).tracker,
    )
    await Promise.all(trackers.map((tracker) => tracker.ready()))
    for (let round = 0; round < 10; round++) {
      const event = { error_type: `Meeting${round}`, message: 'at the same instant' }
      const logged = await Promise.all(trackers.map((tracker) => tracker.Commands.LogError.call(event)))
      expect(new Set(logged.map((record) => record?.hash_signature)).size).toBe(1)
      expect(logged[0]).toMatchObject({ occurrence_count: 1, is_new: true })
      expect(logged.slice(1).map((record) => record?.occurrence_count)).toEqual(expect.arrayContaining([1, 2]))
      expect(logged[0]?.id).not.toBe(logged[1]?.id)
      expect(logged[1]?.id).toBe(logged[2]?.id)
    }
    const errors = (await trackers[0]?.Queries.ErrorsList.call({ per_page: 100 })) ?? []
    expect(errors.filter(({ environment }) => environment === 'staging')).toHaveLength(10)
    expect(errors).toHaveLength(20)
    await verifiedCounts(storage.url)
  })

  test('one batch counts the errors of both environments', async () => {
    const { tracker, url } = await freshTracker(database)
    const environments = ['staging', 'production', 'staging', 'Production', 'staging']
    const logged = await Promise.all(
      environments.map((environment) => tracker.Commands.LogError.call({ ...ERROR, environment })),
    )
    expect(logged.map((error) => error?.occurrence_count)).toEqual([1, 1, 2, 1, 3])
    const errors = await tracker.Queries.ErrorsList.call()
    expect(Object.fromEntries(errors.map((error) => [error.environment, error.occurrence_count]))).toEqual({
      ...{ staging: 3, production: 1, Production: 1 },
    })
    await verifiedCounts(url)
    await tracker.Commands.BatchDeleteErrors.call({ error_ids: [logged[0]?.id ?? 0] })
    expect((await verifiedCounts(url)).counts).toEqual({ 'shop Broken': 2 })
  })

  test('an occurrence in staging neither reopens nor regresses the error resolved in production', async () => {
    const storage = await freshStorage(database)
    const [production, staging] = [inEnvironment(storage, 'production'), inEnvironment(storage, 'staging')]
    const see = async ({ tracker }: typeof production, app_version: string, occurred_at: number) =>
      (await tracker.Commands.LogError.call({ ...ERROR, app_version, occurred_at }))?.id ?? 0
    // Staging runs 2.0.0 before production does.
    await see(staging, '2.0.0', NOON - 2 * HOUR)
    const error_id = await see(production, '1.9.0', NOON - HOUR)
    await production.tracker.Commands.ResolveError.call({ error_id, resolved_by: 'Ada' })
    for (const host of [production, staging]) host.clock.now = NOON + 2 * HOUR
    await see(staging, '2.1.0', NOON + HOUR)
    const find = () => production.tracker.Queries.FindError.call({ error_id })
    expect(await find()).toMatchObject({ status: 'resolved', resolved_in_version: '1.9.0', occurrence_count: 1 })

    await see(production, '2.0.0', NOON + HOUR)
    expect(await find()).toMatchObject({ status: 'new', regressed_in_version: '2.0.0', occurrence_count: 2 })
  })
})

describeOneDatabase('the environment of a process', (database) => {
  test.each([
    [{ environment: '  qa 7 ' }, 'qa 7'],
    [{ environment: 'qa\u202E7' }, 'qa 7'],
    [{ environment: 'x'.repeat(100) }, `${'x'.repeat(63)}…`],
    [{ environment: 'a\n\0\tb' }, 'a b'],
    [{}, 'production'],
  ])('records the environment of the options %j as %j', async (settings, environment) => {
    const { tracker } = await freshTracker(database, settings)
    await tracker.Commands.LogError.call(ERROR)
    expect(await tracker.Queries.ErrorsList.call()).toMatchObject([{ environment }])
  })
})

describeOneDatabase('a spool file of an older version', () => {
  test.each([
    [{ environment: 'staging' }, 'staging'],
    [{}, 'production'],
  ])('takes the environment of an event without one from its context %j', (context, environment) => {
    const event = {
      ...{ hash_signature: 'a'.repeat(64), error_type: 'Old', message: 'x', severity: 'low', place: null },
      ...{ backtrace: [], causes: [], platform: 'API', app_version: null, git_sha: null, user_id: null },
      ...{ request_url: null, ip_address: null, user_agent: null, context, occurred_at: NOON },
    }
    const json = { oldest: 0, newest: 0, count: 1, kept: [event], hours: [], users: [] } as unknown as FoldedGroupJson
    expect(FoldedGroup.fromJSON(JSON.parse(JSON.stringify(json)))).toMatchObject({
      ...{ environment, key: `${'a'.repeat(64)}\n${environment}` },
    })
  })
})
