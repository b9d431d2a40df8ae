import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ORDINARY, storeSamples } from '../diagnostics/samples.js'
import { describeEachDatabase } from '../support/databases.js'
import { type Fields, NOW, type SpecHost, specHost, UNKNOWN_IDS } from './spec-host.js'

const ON = {
  detect_swallowed_exceptions: true,
  enable_diagnostic_dump: true,
  enable_request_guard_tracking: true,
  enable_breadcrumbs: true,
}

describeEachDatabase('deep diagnostics', (database) => {
  let host: SpecHost

  beforeAll(async () => {
    host = await specHost(database, ON)
    await storeSamples(host.url, NOW, ORDINARY)
  })

  afterAll(() => host?.close())

  describe.each(['errors/swallowed_exceptions', 'errors/request_guard_summary'])('GET %s', (path) => {
    test('returns HTML and JSON', async () => {
      const page = await host.get(`/${path}`)
      expect(page.status).toBe(200)
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
      const bySuffix = await (await host.get(`/${path}.json`)).json()
      expect(await host.read(`/${path}`)).toEqual({ status: 200, ...bySuffix })
    })

    test.each([7, 30, 90])('accepts 7, 30 and 90 days (%i)', async (days) => {
      expect(await host.read(`/${path}?days=${days}`)).toMatchObject({ status: 200, days })
    })

    test('uses 30 days by default', async () => {
      expect(await host.read(`/${path}`)).toMatchObject({ days: 30 })
      expect(await host.read(`/${path}?days=`)).toMatchObject({ days: 30 })
    })

    test.each(['1', '14', '365', '0', '-7', 'week', '1e309'])(
      'returns 422 for days=%s and names the allowed values',
      async (days) => {
        expect(await host.read(`/${path}?days=${days}`)).toEqual({
          status: 422,
          error: expect.stringContaining('days must be one of 7, 30, 90'),
        })
      },
    )

    test('filters by application_id', async () => {
      expect((await host.read(`/${path}?application_id=1`)).status).toBe(200)
      expect((await host.read(`/${path}?application_id=999`)).status).toBe(404)
      expect((await host.read(`/${path}?application_id=one`)).status).toBe(422)
    })
  })

  test('aggregates swallowed exceptions by code location above the rescue ratio threshold', async () => {
    const { threshold, locations, runtime } = await host.read('/errors/swallowed_exceptions')
    expect(threshold).toBe(0.95)
    expect(runtime).toEqual({ supported: true, reason: null })
    expect(locations).toHaveLength(3)
    expect((locations as Fields[])[0]).toMatchObject({
      error_type: 'TypeError',
      raise_location: 'src/cart/total.ts:42:11',
      raise_count: 500,
      rescue_count: 500,
      rescue_ratio: 1,
      handlers: [{ rescue_location: 'src/cart/show.ts:18:5', handler_kind: 'empty', rescue_count: 500 }],
    })
    const week = await host.read('/errors/swallowed_exceptions?days=7')
    expect((week.locations as Fields[])[0]).toMatchObject({ raise_count: 300 })
  })

  test('counts throttle, blocklist and track events by rule, kind, address and path', async () => {
    expect(await host.read('/errors/request_guard_summary')).toMatchObject({
      total_count: 150,
      by_kind: { throttle: 35, blocklist: 50, track: 65 },
      by_rule: [{ rule: 'new devices' }, { rule: 'known scrapers' }, { rule: 'sign-in', kind: 'throttle', count: 35 }],
      by_address: [{ ip_address: '2001:db8::7' }, { ip_address: '203.0.113.5' }, { ip_address: '192.0.2.17' }],
      by_path: [{ path: '/account/devices', count: 65 }, { path: '/products' }, { path: '/login' }],
    })
  })

  describe('errors/diagnostic_dumps', () => {
    test('captures a dump with a note and redirects to the dumps page', async () => {
      const response = await host.post('/errors/diagnostic_dumps', { note: 'before the deploy' })
      expect(response.status).toBe(302)
      expect(response.headers.get('location')).toBe('/error_dashboard/errors/diagnostic_dumps')
      const { dumps } = await host.read('/errors/diagnostic_dumps')
      expect((dumps as Fields[])[0]).toMatchObject({ note: 'before the deploy', captured_by: 'admin' })
      const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
      expect(await (await host.get('/errors/diagnostic_dumps', { cookie })).text()).toContain(
        'Captured diagnostic dump',
      )
    })

    test('captures a dump without a note', async () => {
      expect((await host.post('/errors/diagnostic_dumps')).status).toBe(302)
      const { dumps, pagination } = await host.read('/errors/diagnostic_dumps')
      expect((dumps as Fields[]).map(({ note }) => note)).toEqual([null, 'before the deploy'])
      expect(pagination).toEqual({ page: 1, per_page: 25, total_count: 2, total_pages: 1 })
      expect(await host.refusal('/errors/diagnostic_dumps', { note: 'x'.repeat(1001) })).toEqual({
        status: 422,
        error: 'note must not be longer than 1000 characters',
      })
    })

    test('lists the dumps by page as HTML and JSON', async () => {
      expect(await (await host.get('/errors/diagnostic_dumps')).text()).toContain('before the deploy')
      const response = await host.get('/errors/diagnostic_dumps.json?per_page=1')
      expect(response.headers.get('link')).toContain('/errors/diagnostic_dumps.json?per_page=1&page=2>; rel="next"')
      expect((await response.json()).dumps).toHaveLength(1)
    })

    test('stores a snapshot of the process state', async () => {
      const { dumps } = await host.read('/errors/diagnostic_dumps')
      const { id } = (dumps as { id: number }[])[1] ?? { id: 0 }
      expect((await host.read(`/errors/diagnostic_dumps/${id}`)).dump).toMatchObject({
        id,
        note: 'before the deploy',
        process: { pid: process.pid },
        memory: { rss_bytes: expect.any(Number) },
        versions: { node: process.versions.node },
      })
      const page = await host.get(`/errors/diagnostic_dumps/${id}`)
      expect(page.status).toBe(200)
      const html = await page.text()
      for (const label of ['Process ID', 'Max RSS', 'Old space', 'Node.js', 'CommonJS modules'])
        expect(html).toMatch(new RegExp(`<(?:dt|th scope="row")>${label}<`))
    })

    test.each([...UNKNOWN_IDS, 'abc'])('returns 404 for an unknown dump %s', async (id) => {
      expect((await host.read(`/errors/diagnostic_dumps/${id}`)).status).toBe(404)
    })
  })
})

describeEachDatabase('disabled diagnostics', (database) => {
  let host: SpecHost

  beforeAll(async () => {
    host = await specHost(database, { enable_breadcrumbs: false, enable_request_guard_tracking: true })
  })

  afterAll(() => host?.close())

  test.each([
    ['swallowed_exceptions', 'detect_swallowed_exceptions'],
    ['diagnostic_dumps', 'enable_diagnostic_dump'],
    ['diagnostic_dumps/1', 'enable_diagnostic_dump'],
    ['request_guard_summary', 'enable_breadcrumbs'],
  ])('returns 404 for %s and names %s', async (path, option) => {
    expect(await host.read(`/errors/${path}`)).toEqual({ status: 404, error: expect.stringContaining(option) })
    const page = await host.get(`/errors/${path}`)
    expect(page.status).toBe(404)
    expect(await page.text()).toContain(option)
  })

  test('names only the missing options of request_guard_summary', async () => {
    const { error } = await host.read('/errors/request_guard_summary')
    expect(error).not.toContain('enable_request_guard_tracking')
  })

  test('captures no dump while dumps are disabled', async () => {
    expect(await host.refusal('/errors/diagnostic_dumps', { note: 'x' })).toEqual({
      status: 404,
      error: expect.stringContaining('enable_diagnostic_dump'),
    })
  })
})
