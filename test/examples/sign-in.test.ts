import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { cleanUp, createApplication, isInstalled, serve } from '../adapters/host-process.js'
import { installedFolder, TYPESCRIPT } from '../support/processes/installed.js'

const root = installedFolder()
const UNSET = { FAULTBOARD_DASHBOARD_USERNAME: '', FAULTBOARD_DASHBOARD_PASSWORD: '' }

afterEach(cleanUp)

async function start(name: string, entry: string, env: Record<string, string> = {}) {
  const folder = join(root, `${name}-${Object.values(env).length}`)
  cpSync(`examples/${name}`, folder, { recursive: true })
  const { origin } = await serve(folder, [join(folder, entry)], { ...UNSET, ...env }, '/error_dashboard/')
  return dashboardOf(origin)
}

function dashboardOf(origin: string) {
  const send = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
    fetch(`${origin}${path}`, { redirect: 'manual', ...init, headers })
  return {
    send,
    read: async (headers: Record<string, string>) => (await send('/error_dashboard/errors.json', headers)).status,
    remove: async (headers: Record<string, string>) => {
      const body = new URLSearchParams({ 'error_ids[]': '1', action_type: 'delete' })
      return (await send('/error_dashboard/errors/batch_action', headers, { method: 'POST', body })).status
    },
  }
}

function cookiesOf(response: Response): { cookie: string } {
  const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(';')[0])
  return { cookie: cookies.join('; ') }
}

test('the example with a reverse proxy accepts the header only from the trusted proxy', {
  timeout: 120_000,
}, async () => {
  const anna = {
    'x-forwarded-user': 'anna',
    'x-forwarded-groups': 'staff,ops',
    'x-forwarded-email': 'anna@shop.example',
  }
  const { read, remove } = await start('sign-in-proxy', 'app.js')
  expect(await read({})).toBe(401)
  expect(await read(anna)).toBe(200)
  expect(await remove(anna)).toBe(302)
  expect(await remove({ 'x-forwarded-user': 'ben' })).toBe(403)
  const behindAnother = await start('sign-in-proxy', 'app.js', { PROXY_ADDRESS: '192.0.2.1' })
  expect(await behindAnother.read(anna)).toBe(401)
})

test('the example with NestJS uses the sessions of its guard', { timeout: 120_000 }, async () => {
  const { send, read, remove } = await start('sign-in-nest', 'src/main.ts', TYPESCRIPT)
  expect(await read({})).toBe(401)
  expect(await read({ cookie: 'session=s-unknown' })).toBe(401)
  expect((await send('/orders')).status).toBe(403)
  for (const [session, status] of [
    ['s-anna', 302],
    ['s-ben', 403],
  ] as const) {
    // biome-ignore format: a table
    const cookie = `session=${session}`
    expect((await send('/orders', { cookie })).status).toBe(500)
    expect(await read({ cookie })).toBe(200)
    expect(await remove({ cookie })).toBe(status)
  }
})

/** Auth.js is a package of test/hosts. */
test.skipIf(!isInstalled('@auth/core'))(
  'the example with Auth.js accepts people with a role',
  { timeout: 120_000 },
  async () => {
    const folder = createApplication('examples/sign-in-authjs')
    const { origin } = await serve(folder, [join(folder, 'app.js')], UNSET, '/auth/signin')
    const { send, read, remove } = dashboardOf(origin)
    const redirect = await send('/error_dashboard/errors', { accept: 'text/html' })
    expect(redirect.headers.get('location')).toBe('/auth/signin?callbackUrl=%2Ferror_dashboard%2Ferrors')
    const post = async (path: string, fields: Record<string, string>, cookies = '') => {
      const token = await send('/auth/csrf', { cookie: cookies })
      const { csrfToken } = (await token.json()) as { csrfToken: string }
      const body = new URLSearchParams({ ...fields, csrfToken, callbackUrl: '/error_dashboard/errors' })
      return send(path, { cookie: `${cookies}; ${cookiesOf(token).cookie}` }, { method: 'POST', body })
    }
    const signIn = async (name: string, password = `secret of ${name}`) =>
      cookiesOf(await post('/auth/callback/credentials', { name, password }))
    const people = [await signIn('Anna'), await signIn('Ben'), await signIn('Carl'), await signIn('Anna', 'wrong'), {}]
    expect(await Promise.all(people.map(read))).toEqual([200, 200, 401, 401, 401])
    expect(await Promise.all(people.map(remove))).toEqual([302, 403, 401, 401, 401])
    const [anna] = people as [{ cookie: string }]
    const page = await (await send('/error_dashboard/errors', { accept: 'text/html', ...anna })).text()
    expect(page).toContain('<a href="/auth/signout">Sign out</a>')
    const signedOut = await post('/auth/signout', {}, anna.cookie)
    expect(await read({ cookie: cookiesOf(signedOut).cookie })).toBe(401)
  },
)

/** Passport is a package of test/hosts. */
test.skipIf(!isInstalled('passport'))(
  'the example with express-session and Passport signs in and out',
  { timeout: 120_000 },
  async () => {
    const folder = createApplication('examples/sign-in-session')
    const { origin } = await serve(folder, [join(folder, 'app.js')], UNSET, '/login')
    const { send, read, remove } = dashboardOf(origin)
    const html = { accept: 'text/html' }
    const signIn = async (name: string) => {
      const redirect = await send('/error_dashboard/errors?page=1', html)
      const login = redirect.headers.get('location') ?? ''
      expect([redirect.status, login]).toEqual([302, '/login?next=%2Ferror_dashboard%2Ferrors%3Fpage%3D1'])
      const body = new URLSearchParams({ name, password: `secret of ${name}` })
      const response = await send(login, {}, { method: 'POST', body })
      expect(response.headers.get('location')).toBe('/error_dashboard/errors?page=1')
      return cookiesOf(response)
    }
    const [anna, ben] = [await signIn('Anna'), await signIn('Ben')]
    expect(await (await send('/error_dashboard/errors', { ...html, ...anna })).text()).toContain(
      '<a href="/logout">Sign out</a>',
    )
    expect([await read(anna), await read(ben)]).toEqual([200, 200])
    expect([await remove(anna), await remove(ben)]).toEqual([302, 403])
    expect((await send('/logout', anna)).status).toBe(302)
    expect([await read(anna), await read(ben)]).toEqual([401, 200])
  },
)
