import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Host, startHost } from '../support/host.js'
import { ALL_PAGES_ON, HOSTILE_MARKUP, logHostileErrors } from '../support/hostile.js'
import { PAGES } from '../support/routes.js'

const QUERY = encodeURIComponent(HOSTILE_MARKUP)

/** Every page in the routes table, so that new pages are included. */
describe('hostile content', () => {
  let host: Host

  beforeAll(async () => {
    host = await startHost('sqlite::memory:', { application_name: HOSTILE_MARKUP, ...ALL_PAGES_ON })
    await logHostileErrors(host)
  })

  afterAll(() => host.close())

  const addresses = [
    ...PAGES.map(({ path }) => path.replace(/:\w+\{[^}]+\}/, '1')),
    '/errors?application_id=1',
    '/nope/<script>alert(1)</script>',
    `/errors?search=${QUERY}&error_type=${QUERY}&assigned_to=${QUERY}&user_id=${QUERY}&app_version=${QUERY}`,
    `/errors?status=${QUERY}`,
    `/errors?${QUERY}=${QUERY}`,
  ]

  test.each(addresses)('hostile content is rendered as text on %s', async (path) => {
    const response = await host.get(path)
    expect([200, 404, 422]).toContain(response.status)
    const page = await response.text()
    // A disabled page would prove nothing.
    expect(page).not.toContain('This page is switched off')
    expect(page).not.toContain('<script>document')
    expect(page).not.toContain('<img src=x')
    expect(page).not.toMatch(/(?:href|action)="\s*(?:javascript|data:text)/i)
    expect(page).not.toContain('"\'>')
    const tags = page.replace(/"[^"]*"/g, '""')
    expect(tags).not.toMatch(/<[^>]*\sstyle=/)
    expect(tags).not.toMatch(/<[^>]*\son[a-z]+=/)
    expect(page.match(/<script\b(?![^>]*\ssrc=)/g)).toBeNull()
  })

  test('hostile content is rendered as text in a flash message', async () => {
    const page = await (await host.get('/errors', { cookie: `faultboard_notice=${QUERY}` })).text()
    expect(page).toContain('&lt;script&gt;document')
    expect(page).not.toContain('<script>document')
  })

  test('hostile content is contained by headers against inline scripts, styles, framing, caching and referrers', async () => {
    for (const path of [...addresses, '/errors.csv', '/errors.json']) {
      const { headers } = await host.get(path)
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy, path).toContain("default-src 'none'")
      expect(policy).not.toContain('unsafe')
      expect(policy).toContain("frame-ancestors 'none'")
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('access-control-allow-origin')).toBeNull()
      expect(headers.get('strict-transport-security')).toBeNull()
    }
  })
})
