import { type IncomingMessage, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { redirect } from '../../../src/dashboard/http/responses.js'
import type { Mount } from '../../../src/dashboard/mount.js'
import type { Settings } from '../../../src/options.js'
import { type Host, serveTracker, signIn, startHost } from '../../support/host.js'

describe('the origin check', () => {
  let host: Host
  let id: number

  beforeAll(async () => {
    host = await startHost('sqlite::memory:')
    id = (await host.tracker.Commands.LogError.call({ error_type: 'E', message: 'm' }))?.id ?? 0
  })

  afterAll(() => host.close())

  const resolve = (headers: Record<string, string>) => host.post(`/errors/${id}/resolve`, {}, headers)

  test.each<Record<string, string>>([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { origin: 'not a url' },
    { referer: 'https://evil.example/page' },
    { referer: 'about:blank' },
    { referer: 'not a url' },
  ])('refuses requests from other sites: %j', async (headers) => {
    expect((await resolve(headers)).status).toBe(403)
    expect(((await host.json(`/errors/${id}`)).error as unknown as { resolved: boolean }).resolved).toBe(false)
  })

  test('accepts requests of the dashboard and of non-browser clients', async () => {
    expect((await resolve({ 'sec-fetch-site': 'same-origin' })).status).toBe(302)
    expect((await resolve({ 'sec-fetch-site': 'none' })).status).toBe(302)
    expect((await resolve({ origin: host.origin })).status).toBe(302)
    expect((await resolve({ referer: `${host.origin}/error_dashboard/errors` })).status).toBe(302)
    expect((await resolve({ origin: host.origin, referer: 'https://evil.example' })).status).toBe(302)
    expect((await resolve({})).status).toBe(302)
  })

  test('uses X-Forwarded-Host behind a proxy that changes Host', async () => {
    expect((await resolve({ origin: 'https://shop.example', 'x-forwarded-host': 'shop.example' })).status).toBe(302)
  })
})

describe('the scheme of the origin', () => {
  const status = async (headers: Record<string, string>, settings: Settings, mount: Partial<Mount> = {}) => {
    const host = await startHost('sqlite::memory:', settings)
    onTestFinished(() => host.close())
    const request = new Request('http://ops.example/error_dashboard/errors/1/resolve', {
      method: 'POST',
      body: new URLSearchParams(),
      headers: { ...signIn(), host: 'ops.example', ...headers },
    })
    const place = { base: '/error_dashboard', path: '/errors/1/resolve', remote_address: '10.0.0.1', ...mount }
    return (await host.tracker.handle(request, place)).status
  }
  const HTTP = { origin: 'http://ops.example' }
  const HTTPS = { origin: 'https://ops.example' }

  test('the scheme of the origin is compared when the client is known to use HTTPS', async () => {
    const ofProxy = { 'x-forwarded-proto': 'https' }
    const trusting = { trusted_proxies: ['private'] }
    expect(await status(HTTP, {}, { encrypted: true })).toBe(403)
    expect(await status({ ...HTTP, ...ofProxy }, trusting)).toBe(403)
    expect(await status(HTTP, { dashboard_base_url: 'https://ops.example' })).toBe(403)
    expect(await status(HTTPS, {}, { encrypted: true })).toBe(404)
    expect(await status({ ...HTTPS, ...ofProxy }, trusting)).toBe(404)
  })

  test('the scheme of the origin is not compared behind a proxy that may terminate TLS', async () => {
    expect(await status(HTTPS, {})).toBe(404)
    expect(await status(HTTP, {})).toBe(404)
  })

  test('the scheme of the origin must be http or https', async () => {
    expect(await status({ origin: 'ftp://ops.example' }, {})).toBe(403)
  })
})

describe('the Link header', () => {
  test('the Link header is omitted when a long search would make it too large for clients', async () => {
    const host = await startHost('sqlite::memory:')
    onTestFinished(() => host.close())
    const short = await host.get('/errors.json?search=abc')
    expect(short.headers.get('link')).toContain('search=abc')
    const long = await host.get(`/errors.json?search=${'x'.repeat(8000)}`)
    expect(long.status).toBe(200)
    expect(long.headers.get('link')).toBeNull()
  })
})

test('a redirect drops a query that is too long for clients', () => {
  expect(redirect('/error_dashboard/errors?search=abc').headers.get('location')).toBe(
    '/error_dashboard/errors?search=abc',
  )
  const long = redirect(`/error_dashboard/errors?search=${'x'.repeat(20_000)}`)
  expect(long.headers.get('location')).toBe('/error_dashboard/errors')
})

describe('bodies', () => {
  let host: Host

  beforeAll(async () => {
    host = await startHost('sqlite::memory:')
    await host.tracker.Commands.LogError.call({ error_type: 'E', message: 'm' })
  })

  afterAll(() => host.close())

  const send = (body: BodyInit, type: string) =>
    fetch(`${host.origin}/error_dashboard/errors/1/assign`, {
      method: 'POST',
      body,
      headers: { ...signIn(), accept: 'application/json', 'content-type': type },
    })

  test('JSON is rejected with a message that names the expected content type', async () => {
    const response = await send(JSON.stringify({ assigned_to: 'x' }), 'application/json')
    expect(response.status).toBe(422)
    expect((await response.json()).error).toContain('application/x-www-form-urlencoded')
  })

  test('rejects a body larger than 1 MB, with or without Content-Length', async () => {
    const form = 'application/x-www-form-urlencoded'
    expect((await send(`assigned_to=${'x'.repeat(1_100_000)}`, form)).status).toBe(413)
    const unannounced = await new Promise<number>((done, fail) => {
      const post = request(
        `${host.origin}/error_dashboard/errors/1/assign`,
        { method: 'POST', headers: { ...signIn(), 'content-type': form } },
        (response) => {
          response.resume()
          done(response.statusCode ?? 0)
        },
      )
      post.on('error', fail)
      for (let i = 0; i < 12; i++) post.write('x'.repeat(100_000))
      post.end()
    })
    expect(unannounced).toBe(413)
  })

  test('rejects thousands of parameters', async () => {
    const body = Array.from({ length: 4000 }, (_, i) => `p${i}=1`).join('&')
    expect((await send(body, 'application/x-www-form-urlencoded')).status).toBe(422)
  })

  test('parameters named like prototype properties are ordinary parameters', async () => {
    const body = '__proto__[polluted]=1&constructor[prototype][polluted]=1&__proto__=x&assigned_to=eve'
    expect(
      (
        await fetch(`${host.origin}/error_dashboard/errors/1/assign`, {
          method: 'POST',
          redirect: 'manual',
          body,
          headers: { ...signIn(), 'content-type': 'application/x-www-form-urlencoded' },
        })
      ).status,
    ).toBe(302)
    expect((await host.get('/errors?__proto__[polluted]=1&constructor=1')).status).toBe(200)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})

describe('the rate limit', () => {
  test('returns 429 with a JSON body, Retry-After and RateLimit headers beyond the limit per minute', async () => {
    let clock = 1_000_000
    const host = await startHost(
      'sqlite::memory:',
      { enable_rate_limiting: true, rate_limit_per_minute: 3 },
      { now: () => clock },
    )
    for (let i = 0; i < 3; i++) {
      const response = await host.get('/overview')
      expect(response.status).toBe(200)
      expect(response.headers.get('ratelimit-remaining')).toBe(String(2 - i))
    }
    const over = await host.get('/overview')
    expect(over.status).toBe(429)
    expect(await over.json()).toEqual({ error: expect.any(String) })
    expect(over.headers.get('retry-after')).toBe('60')
    expect(over.headers.get('ratelimit-limit')).toBe('3')
    clock += 60_001
    expect((await host.get('/overview')).status).toBe(200)
    await host.close()
  })

  test('the rate limit applies to requests that authenticate rejects, without calling it again', async () => {
    let clock = 1_000_000
    let calls = 0
    const host = await startHost(
      'sqlite::memory:',
      {
        enable_rate_limiting: true,
        rate_limit_per_minute: 10,
        sign_in_url: '/login',
        authenticate({ headers }: IncomingMessage) {
          calls += 1
          return headers['x-api-key'] === 'right' ? { name: 'Anna', role: 'viewer' as const } : null
        },
      },
      { now: () => clock },
    )
    const withKey = (key: string, headers = {}) =>
      fetch(`${host.origin}/error_dashboard/settings`, {
        headers: { 'x-api-key': key, ...headers },
        redirect: 'manual',
      })
    for (let i = 0; i < 5; i++) expect((await withKey('right')).status).toBe(200)
    // A signed-out page does not use up the requests of other people.
    for (let i = 0; i < 9; i++) expect((await withKey('wrong', { accept: 'text/html' })).status).toBe(302)
    for (let i = 0; i < 5; i++) expect((await withKey('right')).headers.get('ratelimit-remaining')).toBe(String(4 - i))
    clock += 60_001
    calls = 0
    const responses = await Promise.all(Array.from({ length: 150 }, (_, i) => withKey(`wrong ${i}`)))
    expect(responses.filter(({ status }) => status === 401)).toHaveLength(10)
    const over = responses.filter(({ status }) => status === 429)
    expect(over).toHaveLength(140)
    expect(over[0]?.headers.get('retry-after')).toBe('60')
    expect(calls).toBe(10)
    // People with a password are not affected, and everyone else waits for the end of the minute at most.
    expect((await host.get('/settings')).status).toBe(200)
    expect((await withKey('right')).status).toBe(429)
    clock += 60_001
    expect((await withKey('right')).status).toBe(200)
    await host.close()
  })

  test('the rate limit is off by default', async () => {
    const host = await startHost('sqlite::memory:')
    for (let i = 0; i < 150; i++) expect((await host.get('/assets/dashboard.css')).status).toBe(200)
    await host.close()
  })
})

describe('internal errors', () => {
  test('internal errors return 500 without internals and are logged', async () => {
    const host = await startHost('sqlite::memory:', {}, { now: () => Number.NaN })
    const response = await host.get('/overview')
    expect(response.status).toBe(500)
    expect(await response.text()).not.toMatch(/at .*\.ts|RangeError|node_modules/)
    expect(host.lines.join('')).toContain('request failed: /overview')
    await host.close()
  })

  test('an unreachable database returns 503 with the cause and without its password', async () => {
    const host = await serveTracker({ database: 'postgres://reader:hunter2@127.0.0.1:1/none' })
    const response = await host.get('/errors', { accept: 'application/json' })
    expect(response.status).toBe(503)
    const { error } = await response.json()
    expect(error).toContain('Cannot use postgres://reader:***@127.0.0.1:1/none')
    expect(host.lines.join('')).not.toContain('hunter2')
    await host.close()
  })
})
