import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Host, startHost } from '../support/host.js'

const MINUTE = 60_000

describe('preferences in cookies', () => {
  let host: Host
  let clock = Date.UTC(2026, 4, 20, 12)

  beforeAll(async () => {
    host = await startHost('sqlite::memory:', {}, { now: () => clock })
  })

  afterAll(() => host.close())

  const cookieOf = (response: Response) =>
    response.headers
      .getSetCookie()
      .filter((cookie) => !cookie.startsWith('faultboard_device='))
      .map((cookie) => cookie.split(';')[0])
      .join('; ')

  test('stores the theme and redirects to the current page', async () => {
    const answer = await host.post('/preferences', { theme: 'dark', return_to: '/errors?status=new&search=a%26b' })
    expect(answer.status).toBe(302)
    expect(answer.headers.get('location')).toBe('/error_dashboard/errors?status=new&search=a%26b')
    expect(answer.headers.get('set-cookie')).toContain(
      'Path=/error_dashboard; Max-Age=31536000; HttpOnly; SameSite=Strict',
    )
    const page = await (await host.get('/errors', { cookie: cookieOf(answer) })).text()
    expect(page).toContain('<html lang="en" data-theme="dark">')
    expect(await (await host.get('/errors')).text()).toContain('<html lang="en">')
  })

  test.each([
    ['a second question mark', '/errors?search=why%3F?&status=new', '/errors?search=why%3F%3F&status=new'],
    ['a long filter', `/errors?search=${'a'.repeat(9000)}`, `/errors?search=${'a'.repeat(9000)}`],
    ['a filter that no address can hold', `/errors?search=${'a'.repeat(30_000)}`, '/errors'],
  ])('redirects to the current page with %s', async (_case, return_to, to) => {
    const answer = await host.post('/preferences', { theme: 'dark', return_to })
    expect(answer.status).toBe(302)
    expect(answer.headers.get('location')).toBe(`/error_dashboard${to}`)
  })

  test('shows exact times in local time unless the configured time zone is preferred', async () => {
    const { error_type } = (await host.tracker.Commands.LogError.call({ error_type: 'TimedError', message: 'm' })) ?? {}
    expect(error_type).toBe('TimedError')
    expect(await (await host.get('/errors')).text()).toMatch(/<time [^>]*data-local/)
    const answer = await host.post('/preferences', { times: 'configured', return_to: '/settings' })
    expect(answer.headers.get('location')).toBe('/error_dashboard/settings')
    const cookie = cookieOf(answer)
    expect(await (await host.get('/errors', { cookie })).text()).not.toContain('data-local')
    const settings = await (await host.get('/settings', { cookie })).text()
    expect(settings).toContain('value="configured" aria-pressed="true">UTC</button>')
    expect((await host.post('/preferences', { times: 'mars' })).status).toBe(422)
  })

  test('stores whether the sidebar is collapsed', async () => {
    const answer = await host.post('/preferences', { rail: 'folded' })
    expect(answer.headers.get('location')).toBe('/error_dashboard/overview')
    expect(await (await host.get('/errors', { cookie: cookieOf(answer) })).text()).toContain('class="frame folded"')
  })

  test.each([
    'https://evil.example/',
    '//evil.example',
    '/../../admin',
    '/errors/%2e%2e',
    'javascript:alert(1)',
    '/errors\r\nSet-Cookie: a=b',
  ])('never redirects to %s', async (return_to) => {
    const answer = await host.post('/preferences', { theme: 'light', return_to })
    expect(answer.headers.get('location')).toBe('/error_dashboard/overview')
  })

  test('rejects an unknown theme with 422 and ignores foreign cookies', async () => {
    expect((await host.post('/preferences', { theme: 'pink' })).status).toBe(422)
    const page = await host.get('/errors', {
      cookie: 'faultboard_theme=%zz; faultboard_visits=1.2.3; faultboard_rail=x',
    })
    expect(await page.text()).toContain('<html lang="en">')
  })

  test('starts a new visit after 30 minutes of inactivity', async () => {
    const first = cookieOf(await host.get('/overview'))
    const began = clock
    expect(first).toBe(`faultboard_visits=${began}.`)
    clock += MINUTE / 2
    expect(cookieOf(await host.get('/overview', { cookie: first }))).toBe('')
    clock += 10 * MINUTE
    const stayed = cookieOf(await host.get('/overview', { cookie: first }))
    expect(stayed).toBe(`faultboard_visits=${clock}.`)
    const left = clock
    clock += 31 * MINUTE
    const back = cookieOf(await host.get('/overview', { cookie: stayed }))
    expect(back).toBe(`faultboard_visits=${clock}.${left}`)
  })
})
