import { createHook } from 'node:async_hooks'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Mount } from '../../../src/dashboard/mount.js'
import { hasIgnoredHeaders } from '../../../src/health/forwarding-headers.js'
import type { Health } from '../../../src/health/report.js'
import type { Settings } from '../../../src/options.js'
import { faultboard } from '../../cli/faultboard.js'
import { type Host, PASSWORD, serveTracker, signIn, USER } from '../../support/host.js'
import { eventually, temporaryFolder, withDatabase } from '../../support/tracker.js'

async function start(settings: Settings = {}) {
  const clock = { now: Date.parse('2026-03-10T12:00:00Z') }
  const host = await serveTracker({ database: 'sqlite::memory:', ...settings }, { now: () => clock.now })
  onTestFinished(() => host.close())
  return { host, clock }
}

/** Sends one request to the dashboard from any address. */
function visit(host: Host, headers: Record<string, string>, mount: Partial<Mount> = {}) {
  const { tracker } = host
  const request = new Request('http://shop.example/error_dashboard/errors', { headers })
  return tracker.handle(request, { base: '/error_dashboard', path: '/errors', remote_address: '192.0.2.1', ...mount })
}

async function guess(host: Host, count: number, mount: (i: number) => Partial<Mount> = () => ({})): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < count; i++) {
    statuses.push((await visit(host, signIn(USER, `guess ${i}`), mount(i))).status)
  }
  return statuses
}

function deviceCookie(response: Response): string | undefined {
  return response.headers.getSetCookie().find((cookie) => cookie.startsWith('faultboard_device='))
}

/** Returns true if a browser sends a cookie with this path to an address (RFC 6265, section 5.1.4). */
function pathMatches(address: string, path: string): boolean {
  return address === path || (address.startsWith(path) && (path.endsWith('/') || address[path.length] === '/'))
}

/** Signs in and returns the cookie as a browser sends it back. */
async function knownDevice(host: Host): Promise<string> {
  const [cookie = ''] = deviceCookie(await visit(host, signIn()))?.split(';') ?? []
  expect(cookie).not.toBe('')
  return cookie
}

describe('failed sign-ins', () => {
  test('failed sign-ins count for the /64 network of an IPv6 client', async () => {
    const { host } = await start()
    const statuses = await guess(host, 40, (i) => ({ remote_address: `2001:db8:1:1::${i.toString(16)}` }))
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(401))
    expect(statuses.slice(20)).toEqual(Array(20).fill(429))
    expect((await visit(host, signIn(), { remote_address: '2001:db8:1:2::1' })).status).toBe(200)
  })

  test.each([
    ['::1', '0:0:0:0:0:0:0:1'],
    ['::ffff:198.51.100.4', '198.51.100.4'],
    ['::ffff:c633:6404', '198.51.100.4'],
    ['fe80::7%eth0', 'fe80::7%eth1'],
    ['2001:DB8::7', '2001:db8:0::7'],
  ])('counts failed sign-ins from %s and %s as one address', async (firstAddress, secondAddress) => {
    const { host } = await start()
    await guess(host, 20, (i) => ({ remote_address: i % 2 === 0 ? firstAddress : secondAddress }))
    expect((await visit(host, signIn(), { remote_address: firstAddress })).status).toBe(429)
    expect((await visit(host, signIn(), { remote_address: secondAddress })).status).toBe(429)
  })

  test('failed sign-ins do not lock out other user names', async () => {
    const { host } = await start()
    for (let i = 0; i < 30; i++) await visit(host, signIn('root', `guess ${i}`))
    expect((await visit(host, signIn('root', 'once more'))).status).toBe(429)
    expect((await visit(host, signIn())).status).toBe(200)
  })

  test('failed sign-ins are shown on Health with the reason for 429', async () => {
    const { host, clock } = await start()
    await guess(host, 23)
    const refused = await visit(host, signIn())
    expect(refused.status).toBe(429)
    expect(await refused.json()).toEqual({
      error: expect.stringMatching(/^Too many failed sign-ins\. Try again in \d/),
    })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    clock.now += 60_001
    const health = (await host.json('/health')) as unknown as Health
    expect(health.dropped).toContainEqual(expect.objectContaining({ reason: 'sign_in_limited', count: 4 }))
    expect(health.state).toBe('ok')
  })
})

test.each([
  ['an unknown name', 'guest', 'wrong', 401],
  ['an unknown name and the right password', 'guest', PASSWORD, 401],
  ['a name that starts like the right one', USER.slice(0, -1), 'wrong', 401],
  ['the right name and a wrong password', USER, 'wrong', 401],
  ['all but the last character of the password', USER, PASSWORD.slice(0, -1), 401],
  ['a longer password', USER, `${PASSWORD}${'x'.repeat(500)}`, 401],
  ['no name and no password', '', '', 401],
  ['the right name and password', USER, PASSWORD, 200],
])('compares two pairs of digests in constant time for %s', async (_title, name, password, status) => {
  const { host } = await start()
  const compare = vi.spyOn(crypto, 'timingSafeEqual')
  syncBuiltinESMExports()
  onTestFinished(() => {
    compare.mockRestore()
    syncBuiltinESMExports()
  })
  expect((await visit(host, signIn(name, password))).status).toBe(status)
  const lengths = compare.mock.calls.map((values) => values.map(({ byteLength }) => byteLength))
  expect(lengths).toEqual([
    [32, 32],
    [32, 32],
  ])
})

describe('a browser that has signed in before', () => {
  test('a known browser is not locked out by other clients behind the same address', async () => {
    const { host } = await start()
    const cookie = await knownDevice(host)
    await guess(host, 40)
    expect((await visit(host, signIn())).status).toBe(429)
    expect((await visit(host, { ...signIn(), cookie })).status).toBe(200)
  })

  test('a known browser still needs the password, and has its own limit', async () => {
    const { host } = await start()
    const cookie = await knownDevice(host)
    expect((await visit(host, { cookie })).status).toBe(401)
    const statuses: number[] = []
    for (let i = 0; i < 22; i++) statuses.push((await visit(host, { ...signIn(USER, `typo ${i}`), cookie })).status)
    expect(statuses).toEqual([...Array(20).fill(401), 429, 429])
    expect((await visit(host, signIn())).status).toBe(200)
  })

  test('a known browser stays known after a restart, but not after a password change', async () => {
    const cookie = await knownDevice((await start()).host)
    const restarted = (await start()).host
    await guess(restarted, 20)
    expect((await visit(restarted, { ...signIn(), cookie })).status).toBe(200)
    const changed = (await start({ dashboard_password: 'another one' })).host
    await guess(changed, 20)
    expect((await visit(changed, { ...signIn(USER, 'another one'), cookie })).status).toBe(429)
  })

  test.each([
    ['', '/'],
    ['/error_dashboard', '/error_dashboard'],
    ['/caf%C3%A9/error_dashboard', '/caf%C3%A9/error_dashboard'],
    ['/café/error_dashboard', '/caf%C3%A9/error_dashboard'],
    ['/密码/error_dashboard', '/%E5%AF%86%E7%A0%81/error_dashboard'],
    ['/my shop/error_dashboard', '/my%20shop/error_dashboard'],
    ['/a,b=c"d/error_dashboard', '/a,b=c%22d/error_dashboard'],
    ['/shop;v=1/error_dashboard', '/'],
    ['/teams/a;Domain=evil.example/error_dashboard', '/teams/'],
    ['/half-\uD800/error_dashboard', '/'],
  ])('a known browser has a cookie that it sends to a dashboard mounted at %j', async (base, expected) => {
    const { host } = await start()
    const response = await visit(host, signIn(), { base })
    expect(response.status).toBe(200)
    const attributes = (deviceCookie(response) ?? '').split('; ').slice(1)
    expect(attributes).toEqual([`Path=${expected}`, expect.stringMatching(/^Max-Age=\d+$/), 'HttpOnly', 'SameSite=Lax'])
    expect(pathMatches(new URL(`http://shop.example${base}/errors`).pathname, expected)).toBe(true)
  })

  test('a known browser has a cookie that reveals nothing, belongs to the mount path and is not readable by scripts', async () => {
    const { host } = await start()
    const cookie = deviceCookie(await visit(host, signIn(), { base: '/ops/error_dashboard' })) ?? ''
    expect(cookie).toMatch(
      /^faultboard_device=[\w.-]+; Path=\/ops\/error_dashboard; Max-Age=15552000; HttpOnly; SameSite=Lax$/,
    )
    const { authorization } = signIn()
    for (const secret of [USER, PASSWORD, encodeURIComponent(PASSWORD), authorization.slice('Basic '.length)])
      expect(cookie).not.toContain(secret)
  })

  test('a known browser receives a new cookie only when the old cookie is invalid or about to expire', async () => {
    const { host, clock } = await start()
    const cookie = await knownDevice(host)
    expect(deviceCookie(await visit(host, { ...signIn(), cookie }))).toBeUndefined()
    clock.now += 31 * 86_400_000
    expect(deviceCookie(await visit(host, { ...signIn(), cookie }))).toBeDefined()
    clock.now += 150 * 86_400_000
    await guess(host, 20)
    expect((await visit(host, { ...signIn(), cookie })).status).toBe(429)
  })

  test('a known browser has a cookie whose key is derived once, before the first sign-in', async () => {
    const password = crypto.randomUUID()
    const started: string[] = []
    const hook = createHook({ init: (_id, type) => void started.push(type) }).enable()
    const derivations = () => started.filter((type) => type === 'SCRYPTREQUEST').length
    onTestFinished(() => void hook.disable())
    const { host } = await start({ dashboard_password: password })
    expect((await visit(host, {})).status).toBe(401)
    expect(derivations()).toBe(1)
    expect(deviceCookie(await visit(host, signIn(USER, password)))).toBeDefined()
    expect(derivations()).toBe(1)
  })

  test('a known browser receives the cookie with pages only, not with assets, JSON or a failed sign-in', async () => {
    const { host } = await start()
    expect(deviceCookie(await host.get('/overview'))).toBeDefined()
    expect(deviceCookie(await host.get('/assets/dashboard.css'))).toBeUndefined()
    expect(deviceCookie(await host.get('/errors.json'))).toBeUndefined()
    expect(deviceCookie(await host.get('/errors', signIn(USER, 'wrong')))).toBeUndefined()
  })

  test.each([
    ['an invented id', (cookie: string) => cookie.replace(/=[\w-]{4}/, '=AAAA')],
    ['a later date', (cookie: string) => cookie.replace(/\.[\da-z]+\./, '.zzzzzz.')],
    ['another signature', (cookie: string) => cookie.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))],
    ['no signature', (cookie: string) => cookie.replace(/\.[\w-]+$/, '.')],
    ['no value', () => 'faultboard_device='],
    ['garbage', () => `faultboard_device=${'%'.repeat(500)}`],
  ])('a browser with %s in its cookie is unknown', async (_case, forge) => {
    const { host } = await start()
    const forged = forge(await knownDevice(host))
    await guess(host, 20)
    expect((await visit(host, { ...signIn(), cookie: forged })).status).toBe(429)
  })

  test.each<[string, Settings, Record<string, string>, Partial<Mount>, boolean]>([
    ['TLS ends in this process', {}, {}, { encrypted: true }, true],
    ['a trusted proxy terminates TLS', { trusted_proxies: ['192.0.2.1'] }, { 'x-forwarded-proto': 'https' }, {}, true],
    [
      'a trusted proxy uses Forwarded',
      { trusted_proxies: ['192.0.2.1'] },
      { forwarded: 'for=1.2.3.4;proto=https' },
      {},
      true,
    ],
    ['the public address is HTTPS', { dashboard_base_url: 'https://ops.example' }, { host: 'ops.example' }, {}, true],
    ['a proxy that is not trusted names HTTPS', {}, { 'x-forwarded-proto': 'https' }, {}, false],
    [
      'it is reached past its public address',
      { dashboard_base_url: 'https://ops.example' },
      { host: '10.0.0.1' },
      {},
      false,
    ],
    ['nothing is known', {}, {}, {}, false],
  ])('a known browser has a Secure cookie when it uses HTTPS: %s', async (_case, settings, headers, mount, secure) => {
    const { host } = await start(settings)
    const cookie = deviceCookie(await visit(host, { ...signIn(), ...headers }, mount)) ?? ''
    expect(cookie.endsWith('; Secure')).toBe(secure)
  })
})

test('delays the sign-in of an unknown client during a distributed attack, and then admits it', async () => {
  const { host } = await start()
  const cookie = await knownDevice(host)
  await guess(host, 201, (i) => ({ remote_address: `2001:db8:0:${i.toString(16)}::1` }))
  expect((await visit(host, { ...signIn(), cookie })).status).toBe(200)
  expect((await visit(host, signIn(), { remote_address: '203.0.113.9' })).status).toBe(200)
})

describe('forwarding headers without a trusted proxy', () => {
  const HEADERS = { 'x-forwarded-for': '203.0.113.9' }
  const reasonsOf = async (host: Host) => ((await host.json('/health')) as unknown as Health).reasons

  test.each([
    ['X-Forwarded-For', '203.0.113.9'],
    ['Forwarded', 'for=203.0.113.9'],
    ['X-Real-IP', '203.0.113.9'],
    ['CF-Connecting-IP', '203.0.113.9'],
  ])('ignored forwarding headers are reported in the log and on Health: %s', async (name, value) => {
    const { host } = await start()
    expect(await reasonsOf(host)).toEqual([])
    await host.get('/overview', { [name]: value })
    await host.get('/overview', { [name]: value })
    const lines = host.lines.filter((line) => line.includes('trusted_proxies'))
    expect(lines).toEqual([expect.stringContaining(`Requests contain ${name}, but no proxy is trusted`)])
    expect(await reasonsOf(host)).toEqual([
      { state: 'degraded', message: expect.stringContaining('Set trusted_proxies') },
    ])
    expect(await (await host.get('/health')).text()).toContain('Set trusted_proxies')
  })

  test('ignored forwarding headers are not reported when an unauthenticated client sends them', async () => {
    const { host } = await start()
    await host.get('/overview', { ...HEADERS, ...signIn(USER, 'wrong') })
    expect(await reasonsOf(host)).toEqual([])
    expect(host.lines.join('')).not.toContain('trusted_proxies')
  })

  test('ignored forwarding headers are not reported when a proxy is trusted, or the framework has resolved the client', async () => {
    const { host } = await start({ trusted_proxies: ['loopback'] })
    await host.get('/overview', HEADERS)
    expect(await reasonsOf(host)).toEqual([])
    const { host: resolved } = await start()
    await visit(resolved, { ...signIn(), ...HEADERS }, { remote_address: '203.0.113.9', peer_address: '10.0.0.1' })
    expect(await reasonsOf(resolved)).toEqual([])
  })

  test('ignored forwarding headers are not reported when they contain the address of the sender', async () => {
    const { host } = await start()
    await visit(host, { ...signIn(), 'x-forwarded-for': '::ffff:10.0.0.1' }, { remote_address: '::ffff:10.0.0.1' })
    expect(await reasonsOf(host)).toEqual([])
  })

  test('ignored forwarding headers are reported by faultboard check until a proxy is trusted', async () => {
    const database = `sqlite:${temporaryFolder()}/errors.sqlite3`
    const { host } = await start({ database })
    await host.tracker.ready()
    const check = async (env = {}) =>
      (await faultboard(['check', '--database', database], { cwd: temporaryFolder(), env })).stdout
    expect(await check()).not.toContain('trusted_proxies')
    await serveWithHeaders(database)
    await eventually(async () => (await check()).includes('Set trusted_proxies'), 'the command reports the headers')
    expect(await check({ FAULTBOARD_TRUSTED_PROXIES: 'private' })).not.toContain('proxies')
  })

  test('ignored forwarding headers are reported again after a restart, before any request', async () => {
    const database = `sqlite:${temporaryFolder()}/errors.sqlite3`
    await serveWithHeaders(database)
    const restarted = async (settings: Settings) => {
      const host = await serveTracker({ database, ...settings })
      onTestFinished(() => host.close())
      await host.tracker.ready()
      return host.lines
    }
    const lines = await restarted({})
    await eventually(() => lines.join('').includes('Set trusted_proxies'), 'the new process reports the headers')
    const trusting = await restarted({ trusted_proxies: ['loopback'] })
    await eventually(async () => !(await isRemembered(database)), 'the process that trusts a proxy ends the warning')
    expect(trusting.join('')).not.toContain('trusted_proxies')
  })

  test('ignored forwarding headers are no longer reported once the framework resolves the client', async () => {
    const database = `sqlite:${temporaryFolder()}/errors.sqlite3`
    await serveWithHeaders(database)
    await eventually(() => isRemembered(database), 'the warning is stored')
    const resolved = await serveTracker({ database })
    onTestFinished(() => resolved.close())
    await visit(resolved, { ...signIn(), ...HEADERS }, { remote_address: '203.0.113.9', peer_address: '10.0.0.1' })
    await eventually(async () => !(await isRemembered(database)), 'the warning ends')
  })

  const isRemembered = (url: string) => withDatabase(url, (database) => hasIgnoredHeaders(database, Date.now()))

  /** Uses the real clock, because the command has no injectable clock. */
  async function serveWithHeaders(database: string): Promise<void> {
    const host = await serveTracker({ database })
    onTestFinished(() => host.close())
    expect((await host.get('/overview', HEADERS)).status).toBe(200)
  }
})
