import { describe, expect, test } from 'vitest'
import { reportingEndpoint } from '../../src/reporting/endpoint.js'
import { REPORT, reportingHost, total } from './reporting-host.js'

const SHOP = 'https://shop.example'
const allowed = { allowed_origins: [SHOP] }

describe('a page of another origin', () => {
  test('may report once the host has named it, and read the answer', async () => {
    const host = await reportingHost(allowed)
    const asked = await host.send({
      method: 'OPTIONS',
      headers: {
        origin: SHOP,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,authorization,bad header\u00e9',
      },
    })
    expect(asked.status).toBe(204)
    expect(asked.headers.get('access-control-allow-origin')).toBe(SHOP)
    expect(asked.headers.get('access-control-allow-methods')).toBe('POST')
    expect(asked.headers.get('access-control-allow-headers')).toBe('content-type, authorization')
    expect(asked.headers.get('access-control-allow-credentials')).toBe(null)
    expect(asked.headers.get('vary')).toBe('Origin')
    const answer = await host.post({ error: REPORT }, { origin: SHOP, 'sec-fetch-site': 'cross-site' })
    expect(answer.status).toBe(201)
    expect(answer.headers.get('access-control-allow-origin')).toBe(SHOP)
    expect(answer.headers.get('access-control-expose-headers')).toContain('Retry-After')
    // The reason of a refusal is for the page, too.
    const refused = await host.post({}, { origin: SHOP })
    expect(refused.status).toBe(422)
    expect(refused.headers.get('access-control-allow-origin')).toBe(SHOP)
  })

  test.each([
    'https://evil.example',
    'https://shop.example.evil.example',
    'http://shop.example',
    'https://shop.example:8443',
    'https://sub.shop.example',
    'null',
  ])('may not report as %s', async (origin) => {
    const host = await reportingHost(allowed)
    const asked = await host.send({ method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } })
    expect(asked.headers.get('access-control-allow-origin')).toBe(null)
    const answer = await host.post({ error: REPORT }, { origin, 'content-type': 'text/plain' })
    expect(answer.status).toBe(403)
    expect(answer.headers.get('access-control-allow-origin')).toBe(null)
    expect(await total(host.tracker)).toBe(0)
  })

  test('may send cookies only if the host allows it', async () => {
    const host = await reportingHost({ ...allowed, allow_credentials: true })
    const answer = await host.post({ error: REPORT }, { origin: SHOP })
    expect(answer.headers.get('access-control-allow-credentials')).toBe('true')
    const other = await host.post({ error: REPORT }, { origin: 'https://evil.example' })
    expect(other.headers.get('access-control-allow-credentials')).toBe(null)
  })

  test('is never any page: a wildcard is refused at start, and so is what is no origin', () => {
    for (const origin of ['*', 'https://*.shop.example', 'shop.example', 'https://shop.example/path']) {
      expect(() => reportingEndpoint({ allowed_origins: [origin] })).toThrow(
        `${JSON.stringify(origin)} is not an origin`,
      )
    }
  })
})

test("the host's own pages and programs report without being named", async () => {
  const host = await reportingHost()
  const { origin } = new URL(host.url)
  expect((await host.post({ error: REPORT }, { origin, 'sec-fetch-site': 'same-origin' })).status).toBe(201)
  expect((await host.post({ error: REPORT }, { origin })).status).toBe(201)
  expect((await host.post({ error: REPORT })).status).toBe(201)
})
