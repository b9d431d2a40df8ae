import { describe, expect, test } from 'vitest'
import { reportingEndpoint } from '../../src/reporting/endpoint.js'
import { REPORT, reportingHost, totalOccurrences } from './reporting-host.js'

const SHOP = 'https://shop.example'
const allowed = { allowed_origins: [SHOP] }

describe('Page of another origin', () => {
  test('a page of another origin may report and read the response if its origin is allowed', async () => {
    const host = await reportingHost(allowed)
    const preflight = await host.send({
      method: 'OPTIONS',
      headers: {
        origin: SHOP,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,authorization,bad header\u00e9',
      },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe(SHOP)
    expect(preflight.headers.get('access-control-allow-methods')).toBe('POST')
    expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type, authorization')
    expect(preflight.headers.get('access-control-allow-credentials')).toBe(null)
    expect(preflight.headers.get('vary')).toBe('Origin')
    const response = await host.post({ error: REPORT }, { origin: SHOP, 'sec-fetch-site': 'cross-site' })
    expect(response.status).toBe(201)
    expect(response.headers.get('access-control-allow-origin')).toBe(SHOP)
    expect(response.headers.get('access-control-expose-headers')).toContain('Retry-After')
    // The page can read the reason of a rejection, too.
    const rejected = await host.post({}, { origin: SHOP })
    expect(rejected.status).toBe(422)
    expect(rejected.headers.get('access-control-allow-origin')).toBe(SHOP)
  })

  test.each([
    'https://evil.example',
    'https://shop.example.evil.example',
    'http://shop.example',
    'https://shop.example:8443',
    'https://sub.shop.example',
    'null',
  ])('a page of another origin may not report with the origin %s', async (origin) => {
    const host = await reportingHost(allowed)
    const preflight = await host.send({
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    })
    expect(preflight.headers.get('access-control-allow-origin')).toBe(null)
    const response = await host.post({ error: REPORT }, { origin, 'content-type': 'text/plain' })
    expect(response.status).toBe(403)
    expect(response.headers.get('access-control-allow-origin')).toBe(null)
    expect(await totalOccurrences(host.tracker)).toBe(0)
  })

  test('a page of another origin may send cookies only if the host allows it', async () => {
    const host = await reportingHost({ ...allowed, allow_credentials: true })
    const response = await host.post({ error: REPORT }, { origin: SHOP })
    expect(response.headers.get('access-control-allow-credentials')).toBe('true')
    const other = await host.post({ error: REPORT }, { origin: 'https://evil.example' })
    expect(other.headers.get('access-control-allow-credentials')).toBe(null)
  })

  test('a page of another origin cannot be allowed by a wildcard or an invalid origin', () => {
    for (const origin of ['*', 'https://*.shop.example', 'shop.example', 'https://shop.example/path']) {
      expect(() => reportingEndpoint({ allowed_origins: [origin] })).toThrow(
        `${JSON.stringify(origin)} is not an origin`,
      )
    }
  })
})

test('accepts reports from pages of the host and from clients other than browsers without configuration', async () => {
  const host = await reportingHost()
  const { origin } = new URL(host.url)
  expect((await host.post({ error: REPORT }, { origin, 'sec-fetch-site': 'same-origin' })).status).toBe(201)
  expect((await host.post({ error: REPORT }, { origin })).status).toBe(201)
  expect((await host.post({ error: REPORT })).status).toBe(201)
})
