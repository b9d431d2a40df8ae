import { expect, onTestFinished, test } from 'vitest'
import { hashToken } from '../../../src/model/people/api-token.js'
import type { Settings } from '../../../src/options.js'
import { describeOneDatabase } from '../../support/databases.js'
import { type Host, startHost } from '../../support/host.js'

const PAGE = '/settings/access'
const bearer = (token: string) => ({ accept: 'application/json', authorization: `Bearer ${token}` })
const SETTING = { name: 'deploys', role: 'viewer', token_hash: hashToken(`fb_${'x'.repeat(43)}`) } as const

describeOneDatabase('the Access page', (database) => {
  async function start(settings: Settings = {}): Promise<Host> {
    const host = await startHost(await database.fresh(), settings)
    onTestFinished(() => host.close())
    return host
  }

  const page = async (host: Host) => (await host.get(PAGE)).text()
  const secretIn = (html: string) => /<code>(fb_[\w-]{43})<\/code>/.exec(html)?.[1] ?? ''

  test('the Access page creates a token and shows its secret once', async () => {
    const host = await start()
    expect(await page(host)).toContain('No API tokens yet')
    const response = await host.post(PAGE, { name: 'ci', role: 'responder', expires_in_days: '30' })
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('no-store')
    const html = await response.text()
    const secret = secretIn(html)
    expect(html).toContain('It is not stored and cannot be shown again.')
    expect(html.split(secret)).toHaveLength(2)
    expect((await host.get('/errors', bearer(secret))).status).toBe(200)
    expect(JSON.stringify([...response.headers])).not.toContain(secret)
    const shownLater = await page(host)
    expect(shownLater).toContain('>ci</bdi>')
    expect(shownLater).toContain('in 30 days')
    for (const text of [shownLater, ...host.lines]) expect(text).not.toContain(secret.slice(3))
    const { tokens } = await host.json(PAGE)
    expect(tokens).toMatchObject([{ name: 'ci', role: 'responder', state: 'active', created_by: 'admin' }])
    expect(JSON.stringify(tokens)).not.toContain(hashToken(secret))
    // A reload sends the form again.
    const repeated = await host.post(PAGE, { name: 'ci', role: 'responder' })
    expect([repeated.status, await repeated.text()]).toEqual([422, expect.stringContaining('Choose another name.')])
  })

  test('the Access page revokes a token', async () => {
    const host = await start()
    const secret = secretIn(await (await host.post(PAGE, { name: 'ci', role: 'viewer', expires_in_days: '' })).text())
    const [, path = ''] = /action="\/error_dashboard(\/settings\/access\/\d+\/revoke)"/.exec(await page(host)) ?? []
    const response = await host.post(path)
    expect([response.status, response.headers.get('location')]).toEqual([302, '/error_dashboard/settings/access'])
    expect((await host.get('/errors', bearer(secret))).status).toBe(401)
    const html = await page(host)
    expect(html).toContain('Revoked tokens')
    expect(html).not.toContain('/revoke"')
    expect((await host.post(`${PAGE}/999/revoke`)).status).toBe(404)
  })

  test('the Access page shows tokens of the configuration as read-only', async () => {
    const host = await start({ api_tokens: [{ ...SETTING, expires_at: '2020-01-01' }] })
    const html = await page(host)
    expect(html).toContain('>deploys</bdi>')
    expect(html).toContain('Read-only, from the option <code>api_tokens</code>')
    expect(html).toContain('>expired<')
    expect(html).toContain('<span title="Uses of tokens in the configuration are not recorded">Last use –</span>')
    expect(html).not.toContain('/revoke"')
    expect(html).not.toContain(SETTING.token_hash.slice(7))
  })

  test('the Access page is for admins only', async () => {
    const host = await start({ api_tokens: [SETTING] })
    const asViewer = { authorization: `Bearer fb_${'x'.repeat(43)}`, accept: 'text/html' }
    expect((await host.get(PAGE, asViewer)).status).toBe(403)
    expect((await host.post(PAGE, { name: 'mine', role: 'admin' }, asViewer)).status).toBe(403)
    expect(await (await host.get('/settings', asViewer)).text()).not.toContain(PAGE)
    expect(await (await host.get('/settings')).text()).toContain(PAGE)
    expect(await host.tracker.Queries.ApiTokens.call()).toHaveLength(1)
  })

  test.each<[string, Record<string, string>, string]>([
    ['no name', { name: '' }, 'name must not be empty'],
    ['a name of 10,000 characters', { name: 'x'.repeat(10_000) }, 'name must not be longer than 255 characters'],
    ['an unknown role', { role: 'root' }, 'role must be one of viewer, responder, admin'],
    ['an invalid expiry', { expires_in_days: '0' }, 'expires_in_days must be a whole number from 1 to 3650'],
  ])('the Access page rejects %s', async (_title, input, problem) => {
    const host = await start()
    const response = await host.post(PAGE, { name: 'ci', role: 'viewer', ...input }, { accept: 'text/html' })
    expect([response.status, await response.text()]).toEqual([422, expect.stringContaining(problem)])
    expect(await host.tracker.Queries.ApiTokens.call()).toEqual([])
  })

  test('the Access page warns about a stored token with the name of a token of the configuration', async () => {
    const url = await database.fresh()
    const earlier = await startHost(url)
    const { id, token } = await earlier.tracker.Commands.CreateApiToken.call({ name: 'deploys', role: 'responder' })
    await earlier.close()
    const host = await startHost(url, { api_tokens: [SETTING] })
    onTestFinished(() => host.close())
    const warnings = async () => (await page(host)).match(/Two tokens have this name/g)?.length ?? 0
    expect(await warnings()).toBe(2)
    // Each secret has the role of its own token.
    expect((await host.post('/errors/1/resolve', {}, bearer(token))).status).toBe(404)
    expect((await host.post('/errors/1/resolve', {}, bearer(`fb_${'x'.repeat(43)}`))).status).toBe(403)
    await host.tracker.Commands.RevokeApiToken.call({ token_id: Number(id) })
    expect(await warnings()).toBe(0)
  })

  test('the Access page escapes hostile names', async () => {
    const host = await start()
    const name = '<img src=x onerror=alert(1)>"\' 🎉 日本語'.padEnd(255, 'ö')
    expect(await (await host.post(PAGE, { name, role: 'viewer' })).text()).not.toContain('<img')
    expect(await page(host)).not.toContain('<img')
    expect((await host.json(PAGE)).tokens).toMatchObject([{ name }])
  })
})
