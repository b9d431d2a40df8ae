import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { DashboardUser } from '../../../src/config/kinds.js'
import { hashPassword } from '../../../src/model/people/derive-key.js'
import type { Settings } from '../../../src/options.js'
import { type Host, serveTracker, signIn } from '../../support/host.js'

/** The cheapest parameters that are allowed. */
const FAST = { N: 2 ** 14, r: 8, p: 1 }

let users: DashboardUser[]

beforeAll(async () => {
  const user = async (name: string, role: DashboardUser['role']) => ({
    name,
    role,
    password_hash: await hashPassword(`password of ${name}`, FAST),
  })
  users = await Promise.all([user('anna', 'admin'), user('Zoë', 'viewer'), user('__proto__', 'admin')])
})

const ONLY_USERS = { dashboard_username: null, dashboard_password: null }

async function start(settings: Settings = ONLY_USERS): Promise<Host> {
  const host = await serveTracker({ database: 'sqlite::memory:', dashboard_users: users, ...settings })
  onTestFinished(() => host.close())
  return host
}

const open = async (host: Host, name: string, password: string, headers: Record<string, string> = {}) =>
  (await host.get('/settings', { ...signIn(name, password), ...headers })).status

/** Counts the derivations in the thread pool. Passwords are verified as usual. */
function countDerivations() {
  const derive = vi.spyOn(crypto, 'scrypt')
  syncBuiltinESMExports()
  onTestFinished(() => {
    derive.mockRestore()
    syncBuiltinESMExports()
  })
  return derive
}

describe('accounts of people', () => {
  test('people with accounts sign in with their own passwords', async () => {
    const host = await start()
    expect(await open(host, 'anna', 'password of anna')).toBe(200)
    expect(await open(host, 'Zoë', 'password of Zoë')).toBe(200)
    expect(await open(host, 'Zoë'.normalize('NFD'), 'password of Zoë'.normalize('NFD'))).toBe(200)
    expect(await open(host, '__proto__', 'password of __proto__')).toBe(200)
    expect(await (await host.get('/settings', signIn('anna', 'password of anna'))).text()).toContain('>anna<')
  })

  test.each([
    ['a wrong password', 'anna', 'wrong'],
    ['the password of another account', 'anna', 'password of Zoë'],
    ['no password', 'anna', ''],
    ['an unknown name', 'ben', 'password of anna'],
    ['no name', '', ''],
    ['another case', 'Anna', 'password of anna'],
    ['an inherited name', 'constructor', 'password of anna'],
    ['an inherited method', 'toString', ''],
  ])('accounts of people are refused with %s', async (_title, name, password) => {
    const host = await start()
    expect(await open(host, name, password)).toBe(401)
  })

  test('personal accounts and the shared account work together', async () => {
    const host = await start({})
    expect((await host.get('/settings')).status).toBe(200)
    expect(await open(host, 'anna', 'password of anna')).toBe(200)
    expect(await open(host, 'anna', 'wrong')).toBe(401)
  })
})

describe('the cost of a sign-in', () => {
  test('the cost of a sign-in is the same for known and unknown names', async () => {
    const host = await start({})
    const derive = countDerivations()
    const parameters = []
    for (const name of ['anna', 'ben', '', 'admin']) {
      expect(await open(host, name, 'wrong')).toBe(401)
      parameters.push(derive.mock.calls.map(([, , bytes, options]) => ({ bytes, ...(options as object) })))
      derive.mockClear()
    }
    expect(parameters[0]).toMatchObject([{ bytes: 32, N: FAST.N, r: FAST.r, p: FAST.p }])
    expect(parameters).toEqual(Array(4).fill(parameters[0]))
  })

  test('the cost of a sign-in is paid once per process, and a wrong password is never accepted from the cache', async () => {
    const host = await start()
    const derive = countDerivations()
    const statuses = await Promise.all(Array.from({ length: 6 }, () => open(host, 'anna', 'password of anna')))
    expect(statuses).toEqual(Array(6).fill(200))
    expect(await open(host, 'anna', 'password of anna')).toBe(200)
    expect(derive).toHaveBeenCalledTimes(1)
    expect(await open(host, 'anna', 'password of anna ')).toBe(401)
    expect(await open(host, 'ann', 'apassword of anna')).toBe(401)
    expect(derive).toHaveBeenCalledTimes(3)
  })

  test('the cost of many sign-ins is limited to two computations at a time', async () => {
    const host = await start()
    let running = 0
    let most = 0
    const { scrypt } = crypto
    const derive = countDerivations()
    derive.mockImplementation(((password: string, salt: Buffer, bytes: number, options: object, done: Done) => {
      running += 1
      most = Math.max(most, running)
      scrypt(password, salt, bytes, options, (error, key) => {
        running -= 1
        done(error, key)
      })
    }) as never)
    const statuses = await Promise.all(Array.from({ length: 15 }, (_, i) => open(host, 'anna', `guess ${i}`)))
    expect(statuses).toEqual(Array(15).fill(401))
    expect(most).toBe(2)
  })

  type Done = (error: Error | null, key: Buffer) => void
})

describe('failed sign-ins of accounts', () => {
  test('failed sign-ins of accounts are limited per name', async () => {
    const host = await start()
    for (let i = 0; i < 20; i++) expect(await open(host, 'ben', `guess ${i}`)).toBe(401)
    expect(await open(host, 'ben', 'once more')).toBe(429)
    expect(await open(host, 'anna', 'password of anna')).toBe(200)
  })

  test('failed sign-ins of strangers do not lock out a browser that has signed in before', async () => {
    const host = await start()
    const response = await host.get('/settings', signIn('anna', 'password of anna'))
    const cookie = response.headers.getSetCookie().find((value) => value.startsWith('faultboard_device=')) ?? ''
    expect(cookie).not.toBe('')
    const known = { cookie: cookie.split(';')[0] ?? '' }
    for (let i = 0; i < 20; i++) await open(host, 'anna', `guess ${i}`)
    expect(await open(host, 'anna', 'password of anna')).toBe(429)
    expect(await open(host, 'anna', 'password of anna', known)).toBe(200)
    expect(await open(host, 'Zoë', 'wrong', known)).toBe(401)
  })
})

test('changes have the name of the account, whatever name the form contains', async () => {
  const host = await start({})
  const { id } = (await host.tracker.Commands.LogError.call({ error_type: 'E', message: 'm' })) as { id: number }
  const anna = signIn('anna', 'password of anna')
  const shared = { author_name: 'Ben', resolved_by_name: 'Ben', muted_by_name: 'Ben', body: 'text' }
  for (const action of ['add_comment', 'mute', 'resolve']) {
    expect((await host.post(`/errors/${id}/${action}`, shared, anna)).status).toBe(302)
  }
  const { error } = (await host.json(`/errors/${id}`)) as unknown as { error: Record<string, unknown> }
  expect(error).toMatchObject({ resolved_by_name: 'anna', muted_by_name: 'anna', comments: [{ author_name: 'anna' }] })
  expect(JSON.stringify(error)).not.toContain('Ben')
  const page = async (headers = {}) => (await host.get(`/errors/${id}`, headers)).text()
  expect(await page(anna)).not.toContain('Your name')
  expect(await page()).toContain('Your name')
  expect((await host.post(`/errors/${id}/add_comment`, shared)).status).toBe(302)
  expect(await page()).toContain('<bdi>Ben</bdi>')
})

test('the browser remembers the name that a person entered for the shared account', async () => {
  const host = await start({})
  const { id } = (await host.tracker.Commands.LogError.call({ error_type: 'E', message: 'm' })) as { id: number }
  const comment = async (headers = {}) => {
    const fields = { author_name: ' Ben <b> ', body: 'text' }
    const cookies = (await host.post(`/errors/${id}/add_comment`, fields, headers)).headers.getSetCookie()
    return cookies.find((cookie) => cookie.startsWith('faultboard_name='))
  }
  const cookie = (await comment())?.split(';')[0] ?? ''
  expect(cookie).toBe(`faultboard_name=${encodeURIComponent('Ben <b>')}`)
  const page = await (await host.get(`/errors/${id}`, { cookie })).text()
  expect(page).toContain('<summary>as <bdi>Ben &lt;b&gt;</bdi> · change</summary>')
  expect(page).toContain('name="resolved_by_name" value="Ben &lt;b&gt;"')
  expect(await comment({ cookie })).toBeUndefined()
  // People with their own account have the name of the account.
  const anna = signIn('anna', 'password of anna')
  expect(await comment(anna)).toBeUndefined()
  const annasPage = await (await host.get(`/errors/${id}`, { ...anna, cookie })).text()
  expect(annasPage).toContain('name="resolved_by_name" value="anna"')
})
