import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import * as express from '../../src/adapters/express.js'
import * as fastify from '../../src/adapters/fastify.js'
import * as fetchAdapter from '../../src/adapters/fetch.js'
import * as h3 from '../../src/adapters/h3.js'
import * as hono from '../../src/adapters/hono.js'
import * as koa from '../../src/adapters/koa.js'
import * as nest from '../../src/adapters/nest.js'
import * as next from '../../src/adapters/next.js'
import * as nitro from '../../src/adapters/nitro.js'
import * as node from '../../src/adapters/node.js'
import type { Endpoint, Routes } from '../../src/dashboard/define.js'
import { liveStream } from '../../src/dashboard/live.js'
import { DIAGNOSTICS } from '../../src/diagnostics/diagnostics.js'
import { loadRoutes } from '../../src/diagnostics/routes.js'
import type { Settings } from '../../src/options.js'
import { TrackerInstance } from '../../src/tracker.js'
import { type Host, PASSWORD, signIn, startHost, USER } from '../support/host.js'

type Kind = readonly [method: 'GET' | 'POST', endpoints: readonly Endpoint[]]

const routes = await loadRoutes(DIAGNOSTICS)

/** The routes table. A new kind of endpoint does not compile until it is added here. */
const KINDS: Record<Exclude<keyof Routes, 'navigation'> | 'stream', Kind> = {
  pages: ['GET', routes.pages],
  feeds: ['GET', routes.feeds],
  downloads: ['GET', routes.downloads],
  stream: ['GET', [liveStream]],
  actions: ['POST', routes.actions],
}

/** Every endpoint, with 1 as the value of each path parameter. No endpoint is public, not even an asset. */
const ENDPOINTS: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/'],
  ['GET', '/assets/dashboard.css'],
  ['GET', '/assets/dashboard.js'],
  ...Object.values(KINDS).flatMap(([method, endpoints]) =>
    endpoints.map(({ path }) => [method, pathWithValues(path)] as const),
  ),
]

function pathWithValues(path: string): string {
  return path.replaceAll(/:\w+(\{[^}]+\})?/g, '1')
}

describe('authentication', () => {
  let host: Host
  let clock = Date.now()

  beforeAll(async () => {
    host = await startHost('sqlite::memory:', {}, { now: () => clock })
    await host.tracker.Commands.LogError.call({ error_type: 'SecretError', message: 'confidential' })
  })

  afterAll(() => host.close())

  const send = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${host.origin}/error_dashboard${path}`, { method, headers, redirect: 'manual' })

  test.each([
    '',
    '/',
    '/overview',
    '/errors',
    '/errors.json',
    '/errors/1',
    '/settings',
    '/assets/dashboard.css',
    '/no/such/path',
    '//',
    '/errors/%2e%2e%2fsettings',
    '/ERRORS',
  ])('requires authentication for %s', async (path) => {
    const response = await send(path)
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Basic realm="Faultboard", charset="UTF-8"')
    const text = await response.text()
    expect(text).not.toMatch(/SecretError|dashboard\.(css|js)/)
    if (!path.endsWith('.json')) expect(text).toContain('<a href="/error_dashboard/overview">Try again</a>')
  })

  test.each(['resolve', 'assign', 'add_comment'])(
    'requires authentication for POST %s before it validates parameters',
    async (action) => {
      expect((await send(`/errors/1/${action}`, {}, 'POST')).status).toBe(401)
    },
  )

  test.each(ENDPOINTS)('requires authentication for the endpoint %s %s', async (method, path) => {
    clock += 61_000
    for (const form of method === 'GET' ? [path, `${path}.json`, `${path}.csv`] : [path]) {
      const missing = await send(form, {}, method)
      const wrong = await send(form, signIn(USER, 'wrong'), method)
      expect([missing.status, wrong.status]).toEqual([401, 401])
      expect(await missing.text()).not.toContain('SecretError')
    }
  })

  test.each(ENDPOINTS)('serves the endpoint %s %s with valid credentials', async (method, path) => {
    clock += 61_000
    const response = await send(path, { ...signIn(), accept: 'application/json' }, method)
    expect(response.status).not.toBe(401)
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) await response.body?.cancel()
    else expect(await response.text()).not.toContain('There is no page at this address.')
  })

  test('checks every kind of endpoint in the routes table', () => {
    const { navigation, ...endpoints } = routes
    expect(navigation.length).toBeGreaterThan(0)
    expect(Object.keys(KINDS).sort()).toEqual([...Object.keys(endpoints), 'stream'].sort())
    expect(ENDPOINTS.length).toBeGreaterThanOrEqual(40)
  })

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH'])(
    'requires authentication for %s on any path',
    async (method) => {
      expect((await send('/errors', {}, method)).status).toBe(401)
    },
  )

  test('returns 401 as JSON to a JSON client', async () => {
    const response = await send('/errors', { accept: 'application/json' })
    expect(response.status).toBe(401)
    expect(await response.json()).toEqual({ error: expect.any(String) })
  })

  test.each([
    ['wrong password', signIn(USER, 'wrong')],
    ['wrong user', signIn('root', PASSWORD)],
    ['empty password', signIn(USER, '')],
    ['password with a suffix', signIn(USER, `${PASSWORD}x`)],
    ['password cut short', signIn(USER, PASSWORD.slice(0, -1))],
    ['no colon', { authorization: `Basic ${Buffer.from('admin').toString('base64')}` }],
    ['not base64', { authorization: 'Basic %%%%' }],
    ['another scheme', { authorization: 'Bearer abc' }],
    ['nothing after the scheme', { authorization: 'Basic ' }],
    ['enormous', { authorization: `Basic ${'QUFB'.repeat(3000)}` }],
  ])('rejects %s', async (_case, headers) => {
    expect((await send('/errors', headers)).status).toBe(401)
  })

  test('accepts a password with a colon and non-ASCII letters', async () => {
    expect((await send('/errors', signIn())).status).toBe(200)
    expect((await send('/errors', { authorization: signIn().authorization.replace('Basic', 'basic') })).status).toBe(
      200,
    )
  })

  test('authentication cannot be disabled by omitting a credential', () => {
    const start = (settings: Settings) =>
      new TrackerInstance({ database: 'sqlite::memory:', ...settings }, { env: {} }).startDashboard()
    expect(() => start({ dashboard_username: USER })).toThrow(/dashboard_password/)
    expect(() => start({ dashboard_password: PASSWORD })).toThrow(/dashboard_username/)
    expect(() => start({ dashboard_username: '', dashboard_password: '' })).toThrow(/dashboard_username/)
  })

  test('limits failed sign-ins per minute, even for the valid password', async () => {
    clock += 120_000
    const statuses: number[] = []
    for (let i = 0; i < 25; i++) statuses.push((await send('/errors', signIn(USER, `guess ${i}`))).status)
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(401))
    expect(statuses.slice(20)).toEqual(Array(5).fill(429))
    const blocked = await send('/errors', signIn())
    expect(blocked.status).toBe(429)
    expect(Number(blocked.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await blocked.json()).toEqual({ error: expect.stringContaining('Try again in') })
    clock += 61_000
    expect((await send('/errors', signIn())).status).toBe(200)
  })

  test('does not count a request without credentials as a failed sign-in', async () => {
    clock += 61_000
    for (let i = 0; i < 30; i++) expect((await send('/errors')).status).toBe(401)
    expect((await send('/errors', signIn())).status).toBe(200)
  })

  describe('without configured credentials', () => {
    const NAMES =
      /dashboard_username[\s\S]*FAULTBOARD_DASHBOARD_USERNAME[\s\S]*dashboard_password[\s\S]*FAULTBOARD_DASHBOARD_PASSWORD/
    const unconfigured = () => {
      const tracker = new TrackerInstance({ database: 'sqlite::memory:' }, { env: {}, write: () => {} })
      onTestFinished(() => tracker.shutdown())
      return tracker
    }

    test.each<[string, (tracker: TrackerInstance) => unknown]>([
      ['Express', express.dashboard],
      ['Hono', hono.faultboard],
      ['Koa', koa.faultboard],
      ['h3', h3.faultboard],
      ['Fetch', fetchAdapter.dashboard],
      ['node:http', (tracker) => node.withFaultboard(() => {}, tracker)],
      ['Fastify', (tracker) => fastify.faultboard({} as never, { tracker }, () => {})],
      ['NestJS', (tracker) => nest.faultboard({} as never, tracker)],
      ['Next.js', next.register],
      ['Nitro', (tracker) => nitro.faultboard(tracker)({} as never)],
    ])('the %s adapter throws at the start and names the options and variables', (_name, mount) => {
      expect(() => mount(unconfigured())).toThrow(NAMES)
    })

    test('a tracker that already records does not serve the dashboard', async () => {
      const tracker = unconfigured()
      await tracker.report(new Error('recorded'))
      expect(() => tracker.startDashboard()).toThrow(NAMES)
      for (const headers of [{}, signIn('', ''), signIn('null', 'null')]) {
        const request = new Request('http://localhost/error_dashboard/errors', { headers })
        const mount = { base: '/error_dashboard', path: '/errors', remote_address: null }
        await expect(tracker.handle(request, mount)).rejects.toThrow(NAMES)
      }
    })

    test('records and reads errors', async () => {
      const tracker = unconfigured()
      expect(await tracker.report(new Error('recorded'))).toMatchObject({ state: 'recorded' })
      expect(await tracker.Queries.ErrorsList.call()).toHaveLength(1)
    })
  })
})
