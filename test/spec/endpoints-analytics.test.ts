import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeEachDatabase } from '../support/databases.js'
import { type SpecHost, specHost } from './spec-host.js'

describeEachDatabase('overview, analytics and settings', (database) => {
  let host: SpecHost

  beforeAll(async () => {
    host = await specHost(database)
    await host.post(`/errors/${host.ids.type}/resolve`)
  })

  afterAll(() => host?.close())

  describe('GET overview', () => {
    test.each<[string, unknown]>([
      ['total_errors', 4],
      ['errors_today', 2],
      ['errors_last_7_days', 3],
      ['errors_last_30_days', 3],
      ['resolved_count', 1],
      ['unresolved_count', 3],
      ['errors_by_platform', { API: 2, Web: 1, iOS: 1 }],
      ['total_occurrences', 4],
      ['occurrences_today', 2],
      ['occurrences_last_7_days', 3],
      ['occurrences_last_30_days', 3],
    ])('returns %s', async (name, value) => {
      expect((await host.read('/overview'))[name]).toEqual(value)
    })

    test('returns the 10 most frequent error types in top_errors', async () => {
      const { top_errors } = await host.read('/overview')
      expect(top_errors).toHaveLength(4)
      expect(top_errors).toContainEqual({ error_type: 'TypeError', count: 1 })
    })

    test('serves the overview as HTML and redirects the mount path to it', async () => {
      expect((await host.get('/overview')).status).toBe(200)
      for (const path of ['', '/']) {
        const response = await host.get(path)
        expect(response.status).toBe(302)
        expect(response.headers.get('location')).toBe('/error_dashboard/overview')
      }
    })
  })

  describe.each([
    ['errors/analytics', 30],
    ['errors/platform_comparison', 7],
    ['errors/correlation', 30],
  ])('GET %s', (path, days) => {
    test('returns HTML and JSON', async () => {
      const page = await host.get(`/${path}`)
      expect(page.status).toBe(200)
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
      const bySuffix = await (await host.get(`/${path}.json`)).json()
      expect(await host.read(`/${path}`)).toEqual({ status: 200, ...bySuffix })
    })

    test(`uses ${days} days by default`, async () => {
      expect(await host.read(`/${path}`)).toMatchObject({ period: { days } })
      expect(await host.read(`/${path}?days=`)).toMatchObject({ period: { days } })
      expect(await host.read(`/${path}?days=14`)).toMatchObject({ period: { days: 14 } })
    })

    test('clamps days to 1 to 365', async () => {
      expect(await host.read(`/${path}?days=0`)).toMatchObject({ status: 200, period: { days: 1 } })
      expect(await host.read(`/${path}?days=1000000`)).toMatchObject({ status: 200, period: { days: 365 } })
    })

    test.each(['week', 'NaN', '1e309', '0x10'])('returns 422 for days=%s', async (given) => {
      expect(await host.read(`/${path}?days=${given}`)).toMatchObject({
        status: 422,
        error: expect.stringContaining('days must be'),
      })
    })

    test('filters by application_id', async () => {
      expect((await host.read(`/${path}?application_id=1`)).status).toBe(200)
      expect((await host.read(`/${path}?application_id=one`)).status).toBe(422)
    })
  })

  describe('GET settings', () => {
    test('returns HTML by default and masks secrets in every format', async () => {
      const response = await host.get('/settings')
      expect(response.headers.get('content-type')).toContain('text/html')
      const page = await response.text()
      expect(page).toContain('rate_limit_per_minute')
      expect(page).not.toContain('pässword')
      expect(JSON.stringify(await host.read('/settings'))).not.toContain('pässword')
    })

    test('marks options with their default value, including lists and mappings', async () => {
      const { settings } = (await host.read('/settings')) as unknown as { settings: Record<string, unknown>[] }
      const changed = settings.filter(({ is_default }) => !is_default).map(({ name }) => String(name))
      const found_out = ['project_root', 'app_version', 'git_sha', 'environment']
      // Options that the test host sets, and options detected at startup.
      expect(changed.filter((name) => !found_out.includes(name)).sort()).toEqual(
        ['database', 'dashboard_username', 'dashboard_password', 'application_name', 'max_event_loop_lag_ms'].sort(),
      )
    })
  })
})

describeEachDatabase('a disabled page', (database) => {
  test('returns 404 for the platform comparison and names enable_platform_comparison', async () => {
    const host = await specHost(database, { enable_platform_comparison: false })
    expect(await host.read('/errors/platform_comparison')).toEqual({
      status: 404,
      error: expect.stringContaining('enable_platform_comparison'),
    })
    await host.close()
  })
})
