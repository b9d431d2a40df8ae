import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createRedactor } from '../../../src/model/redaction/redaction.js'
import { type RequestHeaders, safeHeaders } from '../../../src/model/requests/request-headers.js'

const UNSAFE_HEADERS = [
  'Authorization', 'Proxy-Authorization', 'Cookie', 'Set-Cookie', 'X-Api-Key', 'X-Auth-Token', 'X-Access-Token', 'X-CSRF-Token',
  'X-XSRF-TOKEN', 'X-Amz-Security-Token', 'X-Goog-Iap-Jwt-Assertion', 'Cf-Access-Jwt-Assertion', 'X-Hub-Signature-256',
  'Stripe-Signature', 'X-Session-Id', 'X-Vault-Token', 'X-Amzn-Oidc-Data', 'X-Forwarded-User', 'X-Remote-User', 'Baggage',
  'X-Forwarded-Client-Cert', 'X-Forwarded-For', 'X-Real-Ip', 'Forwarded', 'Sec-WebSocket-Protocol', '__proto__',
  'constructor', 'X-Made-Up-By-The-Host', 'DPoP', 'api-key', 'apikey', 'token', 'Private-Token', 'X-Shopify-Access-Token',
] // biome-ignore format: a word list reads best as lines of words

const SAFE_HEADERS = {
  accept: 'text/html',
  'accept-language': 'de',
  'content-type': 'application/json',
  'content-length': '12',
  host: 'shop.example',
  origin: 'https://shop.example',
  referer: 'https://shop.example/cart',
  'user-agent': 'curl/8.5.0',
  'x-request-id': 'r1',
  'x-correlation-id': 'c1',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  'cf-ray': '8a1',
  'x-amzn-trace-id': 'Root=1-67891233-abcdef012345678912345678',
  'sec-ch-ua': '"Chromium";v="130"',
  'sec-ch-ua-platform': '"macOS"',
  'sec-fetch-site': 'same-origin',
  'x-forwarded-proto': 'https',
}

describe('safeHeaders', () => {
  const pairs: [string, string][] = [
    ...Object.entries(SAFE_HEADERS),
    ...UNSAFE_HEADERS.map((name): [string, string] => [name, 's3cret']),
  ]
  const lowerCase = Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]))
  test.each<[string, RequestHeaders]>([
    ["node's record", lowerCase],
    ['a record in any case', Object.fromEntries(pairs.map(([name, value]) => [name.toUpperCase(), value]))],
    ['rawHeaders', pairs.flat()],
    ['a Headers object', new Headers(pairs)],
    ['a list of pairs', pairs],
    ['a Map', new Map(pairs)],
  ])('keeps only safe headers of %s', (_, headers) => {
    expect(safeHeaders(headers)).toEqual(SAFE_HEADERS)
  })

  test('keeps only safe headers of a real request', async () => {
    const seen: Record<string, string>[] = []
    const server = createServer((request, response) => {
      seen.push(safeHeaders(request.headers), safeHeaders(request.rawHeaders))
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const headers = { 'X-Request-Id': 'r1', Cookie: 'sid=1', Authorization: 'Bearer x', 'X-Api-Key': 'k' }
    await fetch(`http://${host}/`, { headers })
    await new Promise((resolve) => server.close(resolve))
    expect(seen[0]).toEqual(seen[1])
    expect(seen[0]).toMatchObject({ host, 'x-request-id': 'r1' })
    expect(Object.keys(seen[0] ?? {}).filter((name) => /cookie|auth|key/.test(name))).toEqual([])
  })
})

test('never keeps a header with a sensitive name', () => {
  const { isSensitiveKey } = createRedactor()
  const words = [
    'x',
    'accept',
    'request',
    'id',
    'trace',
    'auth',
    'token',
    'key',
    'session',
    'api',
    'sec',
    'ch',
    'ua',
    'cookie',
  ]
  const names = words.flatMap((a) => [a, ...words.flatMap((b) => [`${a}-${b}`, ...words.map((c) => `${a}-${b}-${c}`)])])
  const kept = names.filter((name) => name in safeHeaders({ [name]: 'v' }))
  expect(kept).toEqual(expect.arrayContaining(['accept', 'x-request-id', 'sec-ch-ua']))
  expect([...kept, ...Object.keys(SAFE_HEADERS)].filter(isSensitiveKey)).toEqual([])
})

describe('header values', () => {
  test('joins lists and repeated headers', () => {
    expect(safeHeaders({ accept: ['a', 'b'], via: [5, 'c'], 'content-length': 12 })).toEqual({
      accept: 'a, b',
      via: 'c',
      'content-length': '12',
    })
    expect(safeHeaders(['Accept', 'a', 'ACCEPT', 'b', 'Via'])).toEqual({ accept: 'a, b' })
  })

  test('limits the length of a repeated or long value', () => {
    const long = 'x'.repeat(100_000)
    const lengths = [
      safeHeaders({ referer: long }),
      safeHeaders({ referer: Array.from({ length: 100_000 }, () => long) }),
      safeHeaders(Array.from({ length: 20_000 }, (_, i) => (i % 2 ? long : 'Referer'))),
    ].map(({ referer }) => referer?.length)
    expect(lengths).toEqual([1000, 1000, 1000])
  })

  test('stops reading after the maximum number of headers', () => {
    let read = 0
    const endless = {
      *[Symbol.iterator](): Iterator<[string, string]> {
        while (read++ < 1_000_000) yield ['X-Unknown', 'x']
      },
    }
    expect(safeHeaders(endless)).toEqual({})
    expect(read).toBeLessThan(2000)
    expect(safeHeaders({ via: Array(100_000).fill('x') }).via).toBe(Array(100).fill('x').join(', '))
  })

  test('replaces characters that databases reject', () => {
    expect(safeHeaders({ referer: 'a\0b\uD800' })).toEqual({ referer: 'a\uFFFDb\uFFFD' })
  })

  test('omits values that are not text', () => {
    expect(safeHeaders({ accept: undefined, host: null, via: {}, referer: [], origin: () => 'x' })).toEqual({})
  })
})

describe('hostile headers', () => {
  test('keeps the headers before a getter that throws', () => {
    const headers = {
      accept: 'a',
      get host(): string {
        throw new Error('no')
      },
    }
    expect(safeHeaders(headers)).toEqual({ accept: 'a' })
  })

  const throwing = new Proxy({}, { ownKeys: () => { throw new Error('no') }, has: () => { throw new Error('no') } }) // biome-ignore format: fits on one line
  test.each([null, undefined, 'accept: a', 5, [], [null], [[]], [null, null], new Map([[{}, {}]]), throwing])(
    'returns an empty object for invalid headers %#',
    (headers) => expect(safeHeaders(headers as never)).toEqual({}),
  )
})
