import { expect, onTestFinished, test, vi } from 'vitest'
import { LiveUpdates } from '../../../src/dashboard/live.js'
import { hashToken } from '../../../src/model/people/api-token.js'
import { DAY, MINUTE } from '../../../src/model/time.js'
import type { Settings } from '../../../src/options.js'
import { describeEachDatabase, describeOneDatabase } from '../../support/databases.js'
import { type Host, serveTracker } from '../../support/host.js'
import { eventually, NOON, withDatabase } from '../../support/tracker.js'

const JSON_TYPE = { accept: 'application/json' }
const bearer = (token: string) => ({ ...JSON_TYPE, authorization: `Bearer ${token}` })
const UNKNOWN = 'Unknown API token. Check that it is complete. Ask an admin of this dashboard for a new token.'
/** Token that does not exist. */
const wrongToken = (i = 0) => `fb_${String(i).padStart(43, 'x')}`

async function start(database: string, settings: Settings = {}) {
  const clock = { now: NOON }
  const host = await serveTracker({ database, ...settings }, { now: () => clock.now })
  onTestFinished(() => host.close())
  return { host, clock }
}

async function failure(host: Host, token: string) {
  const response = await host.get('/settings', bearer(token))
  return [response.status, ((await response.json()) as { error: string }).error]
}

describeEachDatabase('requests with an API token', (database) => {
  test('requests with an API token are accepted until it is revoked or expires', async () => {
    const { host, clock } = await start(await database.fresh())
    const create = (name: string) =>
      host.tracker.Commands.CreateApiToken.call({ name, role: 'viewer', expires_in_days: 7 })
    const [first, second] = [await create('ci'), await create('agents')]
    expect((await host.get('/settings', bearer(first.token))).status).toBe(200)
    expect((await host.get('/settings', { authorization: `bearer   ${first.token}` })).status).toBe(200)
    await host.tracker.Commands.RevokeApiToken.call({ token_id: Number(first.id) })
    expect(await failure(host, first.token)).toEqual([
      401,
      'The API token "ci" was revoked on 2026-03-10. Ask an admin of this dashboard for a new token.',
    ])
    clock.now = NOON + 7 * DAY
    expect(await failure(host, second.token)).toEqual([
      401,
      'The API token "agents" expired on 2026-03-17. Ask an admin of this dashboard for a new token.',
    ])
    expect(await failure(host, `${second.token.slice(0, -1)}_`)).toEqual([401, UNKNOWN])
    expect(await failure(host, `"${first.token}"`)).toEqual([401, UNKNOWN])
  })

  test('requests with an API token whose stored role is unknown are refused', async () => {
    const url = await database.fresh()
    const { host } = await start(url)
    for (const role of ['root', 'ADMIN', '', '__proto__']) {
      const { token, id } = await host.tracker.Commands.CreateApiToken.call({ name: `ci-${role}`, role: 'admin' })
      await withDatabase(url, ({ read }) =>
        read
          .updateTable('faultboard_api_tokens')
          .set({ role: role as 'admin' })
          .where('id', '=', Number(id))
          .execute(),
      )
      expect(await failure(host, token)).toEqual([
        403,
        `This requires the role viewer. You are signed in as ci-${role} with the role ${role}.`,
      ])
      expect((await host.post('/settings/access', { name: 'x', role: 'admin' }, bearer(token))).status).toBe(403)
    }
  })

  test('requests with an API token store its last use once a minute', async () => {
    const { host, clock } = await start(await database.fresh())
    const { token } = await host.tracker.Commands.CreateApiToken.call({ name: 'ci', role: 'viewer' })
    const lastUse = async () => (await host.tracker.Queries.ApiTokens.call())[0]?.last_used_at
    const use = () => host.get('/settings', bearer(token))
    expect(await lastUse()).toBeNull()
    await Promise.all([use(), use()])
    await eventually(async () => (await lastUse()) === new Date(NOON).toISOString(), 'the use is stored')
    clock.now = NOON + MINUTE - 1
    await use()
    await new Promise((done) => setTimeout(done, 400))
    expect(await lastUse()).toBe(new Date(NOON).toISOString())
    clock.now = NOON + MINUTE
    await use()
    await eventually(async () => (await lastUse()) === new Date(NOON + MINUTE).toISOString(), 'a later use is stored')
  })
})

describeOneDatabase('API tokens', (database) => {
  const TOKEN = wrongToken(7)
  const SETTING = { name: 'deploys', role: 'viewer', token_hash: hashToken(TOKEN) } as const

  test('API tokens of the configuration work without the database, until they expire', async () => {
    const api_tokens = [{ ...SETTING, expires_at: '2026-03-11' }]
    const { host, clock } = await start('sqlite:/dev/null/missing.sqlite3', { api_tokens })
    expect((await host.get('/errors/openapi.json', bearer(TOKEN))).status).not.toBe(401)
    clock.now = NOON + DAY
    expect(await failure(host, TOKEN)).toEqual([
      401,
      'The API token "deploys" expired on 2026-03-11. Ask an admin of this dashboard for a new token.',
    ])
    // A stored token cannot be verified.
    expect((await failure(host, wrongToken()))[0]).toBe(503)
  })

  test.each([
    ['another scheme', { authorization: `Token ${TOKEN}` }],
    ['no scheme', { authorization: TOKEN }],
    ['Basic credentials', { authorization: `Basic ${Buffer.from(`deploys:${TOKEN}`).toString('base64')}` }],
    ['the hash', bearer(SETTING.token_hash.replace(':', '='))],
    ['a space at its start', bearer(`x ${TOKEN}`)],
    ['a part of it', bearer(TOKEN.slice(0, -1))],
    ['no token', { authorization: 'Bearer ' }],
    ['another prefix', bearer(TOKEN.replace('fb_', 'FB_'))],
    ['a cookie', { authorization: '', cookie: `authorization=Bearer ${TOKEN}; token=${TOKEN}` }],
  ])('API tokens are refused with %s', async (_title, headers) => {
    const { host } = await start(await database.fresh(), { api_tokens: [SETTING] })
    const response = await host.get('/settings', { ...JSON_TYPE, ...headers })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toContain('Basic')
  })

  test('API tokens do not work in a form, in a URL or from another site', async () => {
    const { host } = await start(await database.fresh(), { api_tokens: [{ ...SETTING, role: 'responder' }] })
    const send = (path: string, headers: Record<string, string>) =>
      fetch(`${host.origin}/error_dashboard${path}`, {
        method: 'POST',
        redirect: 'manual',
        headers: { ...JSON_TYPE, ...headers },
        body: new URLSearchParams({
          name: 'Mine',
          token: TOKEN,
          access_token: TOKEN,
          authorization: `Bearer ${TOKEN}`,
        }),
      })
    expect((await send('/saved_views', {})).status).toBe(401)
    expect((await send(`/saved_views?access_token=${TOKEN}`, {})).status).toBe(401)
    expect((await send('/saved_views', { ...bearer(TOKEN), 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await send('/saved_views', { ...bearer(TOKEN), origin: 'https://evil.example' })).status).toBe(403)
    expect(await host.tracker.Queries.SavedViews.call()).toEqual([])
    expect((await send('/saved_views', bearer(TOKEN))).status).toBe(200)
    expect(await host.tracker.Queries.SavedViews.call()).toMatchObject([{ name: 'Mine', created_by: 'deploys' }])
  })

  test('API tokens have their own role, even in a request with a host session', async () => {
    const { host } = await start(await database.fresh(), {
      api_tokens: [SETTING],
      authenticate: () => ({ name: 'anna', role: 'admin' }),
    })
    const response = await host.post('/saved_views', { name: 'Mine' }, bearer(TOKEN))
    expect(await response.json()).toEqual({
      error: 'This requires the role responder. You are signed in as deploys with the role viewer.',
    })
    expect(await failure(host, wrongToken())).toEqual([401, UNKNOWN])
    // Credentials of the host.
    expect((await host.get('/settings', bearer('eyJhbGciOi.x.y'))).status).toBe(200)
  })

  test('API tokens that are wrong are limited, and do not limit valid tokens and browsers', async () => {
    const { host, clock } = await start(await database.fresh(), {
      api_tokens: [SETTING, { ...SETTING, name: 'unused', token_hash: hashToken(wrongToken(8)) }],
    })
    expect((await host.get('/settings', bearer(TOKEN))).status).toBe(200)
    for (let i = 0; i < 20; i++) expect((await failure(host, wrongToken()))[0]).toBe(401)
    expect(await failure(host, wrongToken())).toEqual([429, expect.stringContaining('Too many failed sign-ins.')])
    for (let i = 100; i < 199; i++) expect((await failure(host, wrongToken(i)))[0]).toBe(401)
    expect((await failure(host, wrongToken(199)))[0]).toBe(429)
    expect((await host.get('/settings', bearer(wrongToken(8)))).status).toBe(429)
    expect((await host.get('/settings', bearer(TOKEN))).status).toBe(200)
    clock.now += MINUTE
    expect((await host.get('/settings', bearer(wrongToken(8)))).status).toBe(200)
  })

  test('API tokens never appear in the log', async () => {
    const { host } = await start('sqlite:/dev/null/missing.sqlite3')
    expect((await failure(host, wrongToken()))[0]).toBe(503)
    expect(host.lines.length).toBeGreaterThan(0)
    expect(host.lines.join('\n')).not.toContain(wrongToken())
  })
})

test('streams that are opened with an API token end soon, unlike streams of a password account', async () => {
  const opened = vi.spyOn(LiveUpdates.prototype, 'open')
  onTestFinished(() => opened.mockRestore())
  const { host } = await start('sqlite::memory:')
  const { token } = await host.tracker.Commands.CreateApiToken.call({ name: 'ci', role: 'viewer' })
  for (const headers of [{ authorization: `Bearer ${token}` }, {}]) {
    const response = await host.get('/errors/live', headers)
    await response.body?.cancel()
  }
  expect(opened.mock.calls.map(([, client]) => client?.isRevocable)).toEqual([true, false])
})
