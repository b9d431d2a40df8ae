import { expect, test } from 'vitest'
import type { ContractHosts } from './contract-host.js'
import type { AdapterHarness, Variant } from './harness.js'
import { HOST_HEADERS } from './host-routes.js'

/** Verifies that the dashboard is served at its mount path and nowhere else. */
export function describeDashboard(harness: AdapterHarness, { start, shared, bare }: ContractHosts): void {
  const { unsupportedVariants = {}, normalizedPaths } = harness
  const isReceived = (path: string) => !normalizedPaths || new URL(`http://host${path}`).pathname === path

  test('serves the dashboard at /error_dashboard and leaves other paths to the host', async () => {
    const { get } = await shared()
    expect((await get('/error_dashboard/overview')).status).toBe(200)
    expect((await get('/error_dashboard')).headers.get('location')).toBe('/error_dashboard/overview')
    expect(await (await get('/ok')).text()).toBe('ok')
    expect((await get('/error_dashboardx')).status).not.toBe(200)
  })

  test('serves the dashboard and its links at a configured path', async () => {
    const { get } = await start({ mount_path: '/internal/errors' })
    const page = await get('/internal/errors/overview')
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('href="/internal/errors/settings"')
    expect((await get('/error_dashboard/overview')).status).not.toBe(200)
  })

  if (!unsupportedVariants.prefix)
    test('serves the dashboard and its links below a prefix of the host', async () => {
      const { get, post, tracker } = await start({}, 'prefix')
      expect((await get('/admin/error_dashboard')).headers.get('location')).toBe('/admin/error_dashboard/overview')
      const page = await get('/admin/error_dashboard/overview')
      expect(await page.text()).toContain('href="/admin/error_dashboard/settings"')
      const logged = await tracker.Commands.LogError.call({ error_type: 'E', message: 'm' })
      const response = await post(`/admin/error_dashboard/errors/${logged?.id}/assign`, 'assigned_to=eve%40example.org')
      expect(response.headers.get('location')).toBe(`/admin/error_dashboard/errors/${logged?.id}`)
      expect((await get('/error_dashboard/overview')).status).not.toBe(200)
    })

  const otherSpellings = [
    '//error_dashboard/overview',
    '/Error_Dashboard/overview',
    '/x/../error_dashboard/overview',
    '/error_dashboard%2foverview',
    '/%65rror_dashboard/overview',
  ]
  test.each(otherSpellings.filter(isReceived))(
    'leaves another spelling of the dashboard path to the host: %s',
    async (path) => {
      const host = await shared()
      expect(await host.visit(path)).toEqual(await (await bare()).visit(path))
    },
  )

  const pathsBelow = [
    '//',
    '///',
    '//errors',
    '/errors//',
    '//evil.com/errors',
    '/./errors',
    '/../errors',
    '/errors/../settings',
    '/errors/..json',
    '/errors/.json',
    '/.json',
    '/%2e%2e/errors',
    '/errors/%2E./settings',
    '/errors/..%2fsettings',
    '/errors%2f1',
    '/%65rrors',
    '/%',
    '/\\errors',
    '/..\\errors',
  ]
  test.each(pathsBelow.filter((below) => isReceived(`/error_dashboard${below}`)))(
    'does not normalize the path below the dashboard: %s is not found',
    async (below) => {
      const path = `/error_dashboard${below}`
      const host = await shared()
      const signedIn = await host.visit(path)
      // Some servers reject such a path before any handler runs.
      if (signedIn.status !== 404) return expect(signedIn).toEqual(await (await bare()).visit(path))
      expect(signedIn.status).toBe(404)
      expect((await host.visit(path, { headers: {} })).status).toBe(401)
    },
  )

  test.each(['TRACE', 'OPTIONS', 'PUT', 'PROPFIND'])('requires credentials at %s, then returns 404', async (method) => {
    const { visit } = await shared()
    const anonymous = await visit('/error_dashboard/errors', { method, headers: {} })
    expect(anonymous.status).toBe(401)
    expectSecured(anonymous.headers)
    const signedIn = await visit('/error_dashboard/errors', { method })
    expect(signedIn.status).toBe(404)
    expectSecured(signedIn.headers)
  })

  test('sends security headers with a 500 response after the tracker was shut down', async () => {
    const { tracker, visit } = await start()
    await tracker.shutdown()
    const response = await visit('/error_dashboard/errors')
    expect(response.status).toBe(500)
    expectSecured(response.headers)
  })

  // The other variants differ in their error handling only.
  for (const variant of ['own_handler', 'parser', 'headers', 'wrapped', 'prefix'] satisfies Variant[]) {
    if (!unsupportedVariants[variant])
      test(`reads forms with lists (${variant})`, async () => {
        const { tracker, post } = await shared(variant)
        const base = variant === 'prefix' ? '/admin/error_dashboard' : '/error_dashboard'
        const ids: number[] = []
        for (const message of ['one', 'two', 'three'])
          ids.push((await tracker.Commands.LogError.call({ error_type: message, message }))?.id ?? 0)
        const body = ids.map((id) => `error_ids[]=${id}`).join('&')
        const response = await post(
          `${base}/errors/batch_action`,
          `${body}&action_type=resolve&resolution_comment=a%26b%3D%C3%A9`,
        )
        expect(response.status).toBe(302)
        const resolved = await tracker.Queries.ErrorsList.call({ status: 'resolved' })
        expect(resolved.map(({ resolution_comment }) => resolution_comment)).toEqual(['a&b=é', 'a&b=é', 'a&b=é'])
      })
  }

  test('responds to HEAD with the status and headers of GET, without a body', async () => {
    const { visit } = await shared()
    const page = await visit('/error_dashboard/errors', { method: 'HEAD' })
    expect(page).toMatchObject({ status: 200, body: '', end: 'end' })
    const mount = await visit('/error_dashboard', { method: 'HEAD' })
    expect(mount).toMatchObject({ status: 302, headers: { location: '/error_dashboard/overview' } })
    expectSecured(mount.headers)
  })

  if (!unsupportedVariants.headers)
    test('keeps the headers of the dashboard if the host sets headers on every response', async () => {
      const { visit } = await shared('headers')
      for (const path of ['/overview', '/errors/999', '/nowhere', '/assets/dashboard.css'])
        expectSecured((await visit(`/error_dashboard${path}`)).headers, path)
      expect((await visit('/ok')).headers).toMatchObject(HOST_HEADERS)
    })

  if (!unsupportedVariants.wrapped)
    test.each(['gzip', 'identity'])('lets the host compress responses once (%s)', async (accepted) => {
      const { get } = await shared('wrapped')
      const page = await get('/error_dashboard/overview', { 'accept-encoding': accepted })
      expect(page.status).toBe(200)
      expect(await page.text()).toContain('href="/error_dashboard/settings"')
      expectSecured(Object.fromEntries(page.headers))
    })
}

function expectSecured(headers: Record<string, unknown>, path = ''): void {
  expect(headers).toMatchObject({
    'content-security-policy': expect.stringContaining("default-src 'none'"),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    // Asset names contain a digest of the content.
    'cache-control': path.startsWith('/assets') ? expect.anything() : 'no-store',
  })
}
