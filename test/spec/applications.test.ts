import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TrackerInstance } from '../../src/tracker.js'
import { describeEachDatabase } from '../support/databases.js'
import { PASSWORD, USER } from '../support/host.js'
import { type Fields, NOW, type SpecHost, specHost } from './spec-host.js'

describeEachDatabase('several applications in one dashboard', (database) => {
  let host: SpecHost
  let depot: TrackerInstance
  let depot_error: number
  let ids: { shop: number; depot: number }

  beforeAll(async () => {
    host = await specHost(database, { enable_diagnostic_dump: true })
    depot = new TrackerInstance(
      { database: host.url, application_name: 'depot', dashboard_username: USER, dashboard_password: PASSWORD },
      { now: () => NOW, env: {}, write: () => {} },
    ).start()
    depot_error =
      (await depot.Commands.LogError.call({ error_type: 'TypeError', message: SHARED, platform: 'Web' }))?.id ?? 0
    await depot.Commands.LogError.call({ error_type: 'TypeError', message: SHARED, platform: 'Web' })
    const applications = await host.tracker.Queries.Applications.call()
    const idOf = (name: string) => applications.find((application) => application.name === name)?.id ?? 0
    ids = { shop: idOf('shop'), depot: idOf('depot') }
  })

  afterAll(async () => {
    await depot?.shutdown()
    await host?.close()
  })

  test('assigns each error to an application with a unique name', async () => {
    expect(await host.tracker.Queries.Applications.call()).toEqual([
      { id: ids.depot, name: 'depot' },
      { id: ids.shop, name: 'shop' },
    ])
    expect(await host.record(depot_error)).toMatchObject({ application_id: ids.depot, application_name: 'depot' })
    expect(await host.record('type')).toMatchObject({ application_id: ids.shop, application_name: 'shop' })
  })

  test('stores the same error of two applications as two records', async () => {
    const logged = await host.tracker.Commands.LogError.call({
      error_type: 'TypeError',
      message: SHARED,
      platform: 'Web',
    })
    expect(logged?.id).not.toBe(depot_error)
    await host.tracker.Commands.BatchDeleteErrors.call({ error_ids: [logged?.id ?? 0] })
  })

  test('lists the errors of all applications or of a single application', async () => {
    const total = async (query: string) =>
      ((await host.read(`/errors${query}`)).pagination as { total_count: number }).total_count
    expect(await total('')).toBe(5)
    expect(await total(`?application_id=${ids.depot}`)).toBe(1)
    expect(await total(`?application_id=${ids.shop}`)).toBe(4)
    expect(await host.read('/errors?application_id=999')).toEqual({
      status: 404,
      error: 'No application with id 999.',
    })
  })

  test('shows the overview of all applications or of a single application', async () => {
    expect(await host.read('/overview')).toMatchObject({ total_errors: 5, total_occurrences: 6 })
    expect(await host.read(`/overview?application_id=${ids.depot}`)).toMatchObject({
      total_errors: 1,
      total_occurrences: 2,
      errors_by_platform: { Web: 1 },
    })
    expect(await host.tracker.Queries.DashboardStats.call({ application_id: ids.shop })).toMatchObject({
      total_errors: 4,
    })
  })

  test.each([
    ['/errors/analytics', '"iOS"'],
    ['/errors/platform_comparison', '"iOS"'],
    ['/errors/correlation', '"2.0"'],
  ])('limits %s to one application with application_id', async (path, ofShop) => {
    const [all, depot] = [await host.read(path), await host.read(`${path}?application_id=${ids.depot}`)]
    expect([all.status, depot.status]).toEqual([200, 200])
    expect(JSON.stringify(all)).toContain(ofShop)
    expect(JSON.stringify(depot)).not.toContain(ofShop)
    expect((await host.read(`${path}?application_id=999`)).status).toBe(404)
  })

  test('offers all applications on a page', async () => {
    const page = await (await host.get('/overview')).text()
    expect(page).toContain('depot')
    expect(page).toContain(`application_id=${ids.depot}`)
  })

  describe('a view that is limited to an application', () => {
    test('does not find errors of another application', async () => {
      expect((await host.read(`/errors/${depot_error}?application_id=${ids.shop}`)).status).toBe(404)
      expect((await host.read(`/errors/${depot_error}?application_id=${ids.depot}`)).status).toBe(200)
    })

    test('does not change errors of another application, individually or in batches', async () => {
      const application_id = String(ids.shop)
      await host.post('/errors/batch_action', {
        'error_ids[]': [String(depot_error)],
        action_type: 'resolve',
        application_id,
      })
      await host.post('/errors/batch_action', {
        'error_ids[]': [String(depot_error)],
        action_type: 'delete',
        application_id,
      })
      expect(await host.record(depot_error)).toMatchObject({ resolved: false })
    })

    test('does not list dumps of another application', async () => {
      await host.post('/errors/diagnostic_dumps', { note: 'of the shop' })
      const dumps = async (id: number) =>
        (await host.read(`/errors/diagnostic_dumps?application_id=${id}`)).dumps as Fields[]
      expect(await dumps(ids.shop)).toMatchObject([{ note: 'of the shop', application_name: 'shop' }])
      expect(await dumps(ids.depot)).toEqual([])
      const [dump] = await dumps(ids.shop)
      expect((await host.read(`/errors/diagnostic_dumps/${dump?.id}?application_id=${ids.depot}`)).status).toBe(404)
    })
  })
})

describe('the name of the application', () => {
  test.each([
    ['configuration application_name', { application_name: 'shop' }, { APP_NAME: 'other' }, 'shop'],
    ['the environment variable APP_NAME', {}, { APP_NAME: 'by-environment' }, 'by-environment'],
    ["the host application's own name as a fallback", {}, {}, 'faultboard'],
  ])('the name of the application is taken from %s', async (_source, settings, env, name) => {
    const credentials = { dashboard_username: USER, dashboard_password: PASSWORD }
    const tracker = new TrackerInstance(
      { database: 'sqlite::memory:', ...credentials, ...settings },
      { env, write: () => {} },
    ).start()
    expect(tracker.config.application_name).toBe(name)
    await tracker.shutdown()
  })
})

const SHARED = 'Cannot read the shared cart'
