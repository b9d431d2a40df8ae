import type { IncomingMessage } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Settings } from '../../../src/options.js'
import { type Host, PASSWORD, serveTracker, signIn, USER } from '../../support/host.js'

const ONLY_HOST = { dashboard_username: null, dashboard_password: null }
const SHARED = { dashboard_username: USER, dashboard_password: PASSWORD }
const HTML = { accept: 'text/html,application/xhtml+xml' }

/** Accepts the name in `x-user`, with the role in `x-role`. */
const byHeader = ({ headers }: IncomingMessage) =>
  headers['x-user'] ? { name: String(headers['x-user']), role: String(headers['x-role'] ?? 'admin') as 'admin' } : null

async function start(settings: Settings): Promise<Host> {
  const host = await serveTracker({ database: 'sqlite::memory:', ...ONLY_HOST, ...settings })
  onTestFinished(() => host.close())
  return host
}

function visit(host: Host, headers: Record<string, string> = {}, path = '/settings', method = 'GET') {
  return fetch(`${host.origin}/error_dashboard${path}`, { method, headers, redirect: 'manual' })
}

describe('the sign-in of the host', () => {
  test('the sign-in of the host works without a password of the dashboard', async () => {
    const host = await start({ authenticate: byHeader })
    expect((await visit(host)).status).toBe(401)
    expect((await visit(host, { ...signIn() })).status).toBe(401)
    const response = await visit(host, { 'x-user': 'Anna' })
    expect(response.status).toBe(200)
    expect(response.headers.getSetCookie().join()).not.toContain('faultboard_device')
    expect(await response.text()).toContain('>Anna<')
  })

  test('the sign-in of the host causes no password prompt if no password is configured', async () => {
    const host = await start({ authenticate: byHeader })
    expect((await visit(host)).headers.get('www-authenticate')).toBe('Bearer realm="Faultboard"')
    const both = await start({ ...SHARED, authenticate: byHeader })
    expect((await visit(both)).headers.get('www-authenticate')).toContain('Basic')
  })

  test('the sign-in of the host and the password of the dashboard work together', async () => {
    const host = await start({ ...SHARED, authenticate: byHeader })
    expect((await visit(host, signIn())).status).toBe(200)
    expect((await visit(host, { 'x-user': 'Anna' })).status).toBe(200)
    expect((await visit(host, signIn(USER, 'wrong'))).status).toBe(401)
  })

  test('the sign-in of the host accepts requests to which a proxy added its own credentials', async () => {
    const host = await start({ ...SHARED, authenticate: byHeader })
    for (let i = 0; i < 30; i++) {
      expect((await visit(host, { ...signIn('proxy', 'x'), 'x-user': 'Anna' })).status).toBe(200)
      expect((await visit(host, { authorization: 'Bearer of-the-host', 'x-user': 'Anna' })).status).toBe(200)
    }
  })

  test('the sign-in of the host is checked for every request', async () => {
    let signedIn: { name: string; role: 'viewer' } | null = { name: 'Anna', role: 'viewer' }
    const host = await start({ authenticate: () => signedIn })
    const bearer = { authorization: 'Bearer of-the-host' }
    for (const headers of [{}, bearer]) expect((await visit(host, headers)).status).toBe(200)
    signedIn = null
    for (const headers of [{}, bearer]) expect((await visit(host, headers)).status).toBe(401)
    signedIn = { name: 'Ben', role: 'viewer' }
    for (const headers of [{}, bearer]) expect(await (await visit(host, headers)).text()).toContain('>Ben<')
  })

  test.each<[string, unknown, string]>([
    ['text', 'admin', 'it must be an object'],
    ['true', true, 'it must be an object'],
    ['a number', 1, 'it must be an object'],
    ['an empty object', {}, 'name must be'],
    ['no role', { name: 'Anna' }, 'role must be one of viewer, responder, admin'],
    ['an unknown role', { name: 'Anna', role: 'root' }, 'role must be one of'],
    ['a role in capitals', { name: 'Anna', role: 'ADMIN' }, 'role must be one of'],
    ['a list of roles', { name: 'Anna', role: ['admin'] }, 'role must be one of'],
    ['an inherited role', { name: 'Anna', role: 'constructor' }, 'role must be one of'],
    ['no name', { role: 'admin' }, 'name must be'],
    ['an empty name', { name: ' ', role: 'admin' }, 'name must be'],
    ['a numeric name', { name: 7, role: 'admin' }, 'name must be'],
    ['a name of 10,000 characters', { name: 'x'.repeat(10_000), role: 'admin' }, 'at most 255 characters'],
    ['a name with a header', { name: 'Anna\r\nSet-Cookie: a=b', role: 'admin' }, 'control characters'],
    ['a name with NUL', { name: 'Anna\0', role: 'admin' }, 'control characters'],
    ['a name that changes direction', { name: 'Anna\u202e', role: 'admin' }, 'control characters'],
    ['an invalid email', { name: 'Anna', role: 'admin', email: 'a@b\r\nBcc: c@d' }, 'email must be'],
  ])('the sign-in of the host is refused and logged with %s', async (_title, result, problem) => {
    const host = await start({ authenticate: () => result as never })
    for (let i = 0; i < 3; i++) expect((await visit(host)).status).toBe(401)
    const lines = host.lines.filter((line) => line.includes('authenticate'))
    expect(lines).toEqual([expect.stringContaining(problem)])
    expect(lines[0]?.length).toBeLessThan(300)
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['undefined', undefined],
    ['false', false],
  ])('the sign-in of the host is refused silently with %s', async (_title, result) => {
    const host = await start({ authenticate: () => result as never })
    expect((await visit(host)).status).toBe(401)
    expect(host.lines.join('')).not.toContain('authenticate')
  })

  test.each<[string, () => never]>([
    [
      'throws',
      () => {
        throw new Error('session store\r\n[faultboard] forged')
      },
    ],
    [
      'rejects',
      (async () => {
        throw new Error('session store')
      }) as never,
    ],
    [
      'throws null',
      () => {
        throw null
      },
    ],
    [
      'throws an unreadable error',
      () => {
        throw new Proxy(new Error('x'), {
          get: () => {
            throw new Error('hidden')
          },
        })
      },
    ],
    [
      'returns an unreadable object',
      () =>
        ({
          get name() {
            throw new Error('session store')
          },
        }) as never,
    ],
    [
      'returns a revoked proxy',
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {})
        revoke()
        return proxy as never
      },
    ],
  ])('the sign-in of the host is refused and logged if it %s', async (_title, authenticate) => {
    // biome-ignore format: one line per case
    const host = await start({ ...SHARED, authenticate })
    expect((await visit(host)).status).toBe(401)
    expect((await visit(host, signIn())).status).toBe(200)
    const lines = host.lines.filter((line) => line.includes('authenticate'))
    expect(lines).toEqual([expect.stringMatching(/^\[faultboard\] authenticate (failed|returned)[^\r\n]*\n$/)])
  })

  test('the sign-in of the host is refused after two seconds, and the shared account still works', async () => {
    const host = await start({ ...SHARED, authenticate: () => new Promise(() => {}) })
    const [missing, shared] = await Promise.all([visit(host), visit(host, signIn())])
    expect([missing.status, shared.status]).toEqual([401, 200])
    expect(host.lines.filter((line) => line.includes('no response within 2 seconds'))).toHaveLength(1)
  })

  test('failed sign-ins with an Authorization header are limited, whatever the scheme', async () => {
    const host = await start({
      authenticate: ({ headers }: IncomingMessage) =>
        headers.authorization === 'Bearer right' ? { name: 'Anna', role: 'admin' } : null,
    })
    const bearer = async (token: string) => (await visit(host, { authorization: `Bearer ${token}` })).status
    expect(await bearer('right')).toBe(200)
    for (let i = 0; i < 20; i++) expect(await bearer(`guess ${i}`)).toBe(401)
    expect(await bearer('once more')).toBe(429)
    expect(await bearer('right')).toBe(429)
    for (let i = 0; i < 30; i++) expect((await visit(host, { cookie: `session=${i}` })).status).toBe(401)
  })
})

describe('the sign-in page of the host', () => {
  const settings = { authenticate: byHeader, sign_in_url: '/login?next={return_to}' }

  test('the sign-in page of the host opens for a browser without credentials', async () => {
    const host = await start(settings)
    const response = await visit(host, HTML, '/errors?search=a%26b')
    expect(response.status).toBe(302)
    expect(response.headers.get('location')).toBe('/login?next=%2Ferror_dashboard%2Ferrors%3Fsearch%3Da%2526b')
    expect((await visit(host, { ...HTML, 'x-user': 'Anna' })).status).toBe(200)
  })

  test('the sign-in page of the host does not open for other clients', async () => {
    const host = await start({ ...SHARED, ...settings })
    const statuses = await Promise.all([
      visit(host),
      visit(host, { accept: '*/*' }),
      visit(host, { accept: 'application/json' }),
      visit(host, { accept: 'text/css' }, '/assets/dashboard.css'),
      visit(host, { accept: 'text/event-stream' }, '/live'),
      visit(host, HTML, '/errors/1/resolve', 'POST'),
      visit(host, { ...HTML, ...signIn(USER, 'wrong') }),
    ])
    expect(statuses.map(({ status }) => status)).toEqual(Array(7).fill(401))
  })

  test('the sign-in page of the host is not used without authenticate', async () => {
    const host = await start({ ...SHARED, sign_in_url: '/login' })
    expect((await visit(host, HTML)).status).toBe(401)
  })

  test('?sign_in=password replaces the sign-in page of the host with a password prompt until the browser is closed', async () => {
    const host = await start({ ...SHARED, ...settings })
    const challenged = await visit(host, HTML, '/errors/7?sign_in=password')
    expect(challenged.status).toBe(401)
    expect(challenged.headers.get('www-authenticate')).toContain('Basic')
    const [cookie = ''] = challenged.headers.getSetCookie()
    expect(cookie).toBe('faultboard_sign_in=password; Path=/error_dashboard; HttpOnly; SameSite=Lax')
    const page = await challenged.text()
    expect(page).toContain('<a href="/login?next=%2Ferror_dashboard%2Foverview">Sign in with the application</a>')
    // Browsers send the password unasked only below the folder of the first page.
    const next = await visit(host, { ...HTML, cookie: cookie.split(';', 1)[0] ?? '' }, '/overview')
    expect([next.status, next.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('Basic')])
    const signedIn = await visit(host, { ...HTML, ...signIn() }, '/settings?sign_in=password')
    expect(signedIn.status).toBe(200)
    expect(await signedIn.text()).not.toContain('sign_in=password')
    expect((await visit(host, HTML, '/overview?sign_in=other')).status).toBe(302)
  })

  test('the sign-in page of the host opens with ?sign_in=password if there are no passwords', async () => {
    const host = await start(settings)
    expect((await visit(host, HTML, '/overview?sign_in=password')).status).toBe(302)
    expect((await visit(host, { ...HTML, cookie: 'faultboard_sign_in=password' })).status).toBe(302)
  })

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('session store')
      },
    ],
    ['returns an invalid person', () => ({ name: 'Anna', role: 'root' })],
    ['does not respond', () => new Promise(() => {})],
  ])('a page states that the sign-in of the host failed if authenticate %s', async (_title, authenticate) => {
    const host = await start({ ...SHARED, ...settings, authenticate: authenticate as never })
    const response = await visit(host, HTML)
    expect(response.status).toBe(401)
    // A password dialog would hide the page.
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="Faultboard"')
    const page = await response.text()
    expect(page).toContain('The sign-in of the application failed. Check the application log')
    expect(page).toContain('<a href="/error_dashboard/overview?sign_in=password">Sign in with a password</a>')
    expect(page).not.toContain('session store')
  })

  test('JSON states that the sign-in of the host failed', async () => {
    const authenticate = () => {
      throw new Error('session store')
    }
    const host = await start({ ...settings, authenticate })
    const response = await visit(host, { accept: 'application/json' })
    expect([response.status, await response.json()]).toEqual([
      401,
      {
        error:
          'The sign-in of the application failed. Check the application log for lines that contain "authenticate".',
      },
    ])
  })

  test('the path in the link to the sign-in page cannot leave the host', async () => {
    const host = await start(settings)
    for (const path of ['//evil.example', '/%0d%0aX-Evil:1', '/x?a=%0d%0aX-Evil:1']) {
      const { headers } = await visit(host, HTML, path)
      expect(headers.get('location')).toMatch(/^\/login\?next=%2Ferror_dashboard[\w.%-]*$/)
      expect(headers.get('x-evil')).toBeNull()
    }
  })
})

test('people of the host sign out on its page, and people with a password have no sign-out link', async () => {
  const host = await start({ ...SHARED, authenticate: byHeader, sign_out_url: '/logout' })
  const link = '<a href="/logout">Sign out</a>'
  expect(await (await visit(host, { 'x-user': 'Anna' })).text()).toContain(link)
  expect(await (await visit(host, signIn())).text()).not.toContain(link)
})
