import { createServer, request as httpRequest, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import type { Settings } from '../../src/config/options.js'
import { TrackerInstance } from '../../src/tracker.js'
import { listening, PASSWORD, signIn, USER } from '../support/host.js'

/** How a framework builds the host of the contract. */
export interface AdapterHarness {
  name: string
  /**
   * A host with the dashboard, the capture, and three routes: GET /ok answers `ok`; GET /sync throws and GET /async
   * rejects with `new Error('broken')`, which the host answers in its own way (status and body of `broken`).
   */
  host(tracker: TrackerInstance): RequestListener
  /** The same host with a body parser in front of the dashboard, where the framework has one. */
  hostWithParser?(tracker: TrackerInstance): RequestListener
  /** What the host answers to an error without Faultboard. */
  broken: { status: number; body: string }
}

/** What every adapter must do, shown on the real framework. */
export function describeAdapter({ name, host, hostWithParser, broken }: AdapterHarness): void {
  describe(`the ${name} adapter`, () => {
    const closing: (() => Promise<unknown>)[] = []
    afterEach(async () => {
      for (const close of closing.splice(0)) await close()
    })

    async function start(settings: Settings = {}, build = host) {
      const tracker = new TrackerInstance(
        { database: 'sqlite::memory:', dashboard_username: USER, dashboard_password: PASSWORD, ...settings },
        { env: {}, write: () => {} },
      )
      const server = createServer(build(tracker))
      const origin = await listening(server)
      closing.push(async () => {
        server.closeAllConnections()
        await new Promise((done) => server.close(done))
        await tracker.shutdown()
      })
      return {
        tracker,
        origin,
        get: (path: string) => fetch(`${origin}${path}`, { headers: signIn(), redirect: 'manual' }),
      }
    }

    test('mounts the dashboard at /error_dashboard and leaves every other path to the host', async () => {
      const { get } = await start()
      expect((await get('/error_dashboard/overview')).status).toBe(200)
      expect(await (await get('/ok')).text()).toBe('ok')
      expect((await get('/error_dashboardx')).status).not.toBe(200)
    })

    test('mounts it at any other path, and its links go there', async () => {
      const { get } = await start({ mount_path: '/internal/errors' })
      const page = await get('/internal/errors/overview')
      expect(page.status).toBe(200)
      expect(await page.text()).toContain('href="/internal/errors/settings"')
      expect((await get('/error_dashboard/overview')).status).not.toBe(200)
    })

    test.each([
      '//error_dashboard/overview',
      '/Error_Dashboard/overview',
      '/x/../error_dashboard/overview',
      '/error_dashboard%2foverview',
      '/%65rror_dashboard/overview',
    ])('another spelling of the path is not the dashboard: %s', async (path) => {
      const { origin } = await start()
      const { status, body } = await rawRequest(origin, path)
      expect(status === 200 && body.includes('Faultboard')).toBe(false)
    })

    test.each([
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
    ])('the path below the mount counts as it was sent: %s is not found', async (path) => {
      const { origin } = await start()
      expect((await rawRequest(origin, `/error_dashboard${path}`)).status).toBe(404)
      expect((await rawRequest(origin, `/error_dashboard${path}`, { headers: {} })).status).toBe(401)
    })

    test.each(['TRACE', 'OPTIONS', 'PUT', 'PROPFIND'])(
      '%s needs credentials, then there is no such page',
      async (method) => {
        const { origin } = await start()
        const anonymous = await rawRequest(origin, '/error_dashboard/errors', { method, headers: {} })
        expect(anonymous.status).toBe(401)
        expectSecured(anonymous.headers)
        const signedIn = await rawRequest(origin, '/error_dashboard/errors', { method })
        expect(signedIn.status).toBe(404)
        expectSecured(signedIn.headers)
      },
    )

    test('what the adapter has to answer by itself is as guarded as the rest', async () => {
      const { tracker, origin } = await start()
      await tracker.shutdown()
      const answer = await rawRequest(origin, '/error_dashboard/errors')
      expect(answer.status).toBe(500)
      expectSecured(answer.headers)
    })

    test.each(['/sync', '/async'])(
      'records what a handler of %s throws and leaves the answer as it was',
      async (path) => {
        const { tracker, get } = await start()
        const response = await get(`${path}?token=abc&page=2`)
        expect({ status: response.status, body: await response.text() }).toEqual(broken)
        await tracker.flush()
        const [logged] = await tracker.Queries.ErrorsList.call()
        expect(logged).toMatchObject({ error_type: 'Error', message: 'broken', occurrence_count: 1 })
        const found = await tracker.Queries.FindError.call({ error_id: logged?.id ?? 0 })
        expect(found.request_url).toContain(`${path}?token=[FILTERED]&page=2`)
        expect(found.user_agent).toBe('node')
        expect(found.ip_address).toContain('127.0.0.1')
      },
    )

    test('enable_middleware false records nothing and changes nothing', async () => {
      const { tracker, get } = await start({ enable_middleware: false })
      expect((await get('/sync')).status).toBe(broken.status)
      await tracker.flush()
      expect(await tracker.Queries.ErrorsList.call()).toEqual([])
    })

    test('actions work end to end', async () => {
      const { tracker, origin } = await start()
      const logged = await tracker.Commands.LogError.call({ error_type: 'E', message: 'm' })
      const response = await post(
        `${origin}/error_dashboard/errors/${logged?.id}/assign`,
        'assigned_to=eve%40example.org',
      )
      expect(response.status).toBe(302)
      expect(await tracker.Queries.ErrorsList.call({ assigned_to: 'eve@example.org' })).toHaveLength(1)
    })

    test('HEAD answers as GET without a body', async () => {
      const { origin } = await start()
      const response = await fetch(`${origin}/error_dashboard/errors`, { method: 'HEAD', headers: signIn() })
      expect(response.status).toBe(200)
      expect(await response.text()).toBe('')
      const mount = await fetch(`${origin}/error_dashboard`, { method: 'HEAD', headers: signIn(), redirect: 'manual' })
      expect(mount.status).toBe(302)
      expect(mount.headers.get('location')).toBe('/error_dashboard/overview')
      expectSecured(Object.fromEntries(mount.headers))
    })

    if (!hostWithParser) return
    test('a body that the host has parsed already is understood', async () => {
      const { tracker, origin } = await start({}, hostWithParser)
      const ids: number[] = []
      for (const message of ['one', 'two', 'three'])
        ids.push((await tracker.Commands.LogError.call({ error_type: message, message }))?.id ?? 0)
      const body = ids.map((id) => `error_ids[]=${id}`).join('&')
      expect(
        (
          await post(
            `${origin}/error_dashboard/errors/batch_action`,
            `${body}&action_type=resolve&resolution_comment=a%26b%3D%C3%A9`,
          )
        ).status,
      ).toBe(302)
      const resolved = await tracker.Queries.ErrorsList.call({ status: 'resolved' })
      expect(resolved.map(({ resolution_comment }) => resolution_comment)).toEqual(['a&b=é', 'a&b=é', 'a&b=é'])
    })
  })
}

function post(url: string, body: string): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    body,
    redirect: 'manual',
    headers: { ...signIn(), 'content-type': 'application/x-www-form-urlencoded' },
  })
}

function expectSecured(headers: Record<string, unknown>): void {
  expect(headers).toMatchObject({
    'content-security-policy': expect.stringContaining("default-src 'none'"),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  })
}

interface RawAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

/** fetch tidies a path up before it sends it, and refuses some methods; this does neither. */
function rawRequest(
  origin: string,
  path: string,
  { method = 'GET', headers = signIn() }: { method?: string; headers?: Record<string, string> } = {},
): Promise<RawAnswer> {
  const { hostname, port } = new URL(origin)
  return new Promise((done, fail) => {
    httpRequest({ hostname, port, path, method, headers }, (response) => {
      let body = ''
      response.on('data', (chunk) => {
        body += chunk
      })
      response.on('end', () => done({ status: response.statusCode ?? 0, headers: response.headers, body }))
    })
      .on('error', fail)
      .end()
  })
}
