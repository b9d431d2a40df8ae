import { createServer, request as send } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { type HostRequest, markStart, requestFacts, webRequestFacts } from '../../../src/capture/facts/request-facts.js'
import { findUserId } from '../../../src/capture/facts/user.js'
import { startListening } from '../../support/host.js'

const NO_OPTIONS = { trusted_proxies: [], user_callback: null }

/** Returns the result of `read` for a request received by a real server. */
async function readRequest<T>(
  path: string,
  headers: Record<string, string>,
  read: (request: HostRequest) => T,
): Promise<T> {
  const results: T[] = []
  const server = createServer((incoming, response) => {
    markStart(incoming)
    results.push(read(incoming))
    response.end()
  })
  onTestFinished(() => void server.close())
  const { port } = new URL(await startListening(server))
  await new Promise<void>((resolve, reject) => {
    send({ port, path, headers: { connection: 'close', ...headers } }, (response) =>
      response.resume().on('end', resolve),
    )
      .on('error', reject)
      .end()
  })
  return results[0] as T
}

test('describes a request by method, URL, parameters, safe headers, content type and duration', async () => {
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'curl/8',
    authorization: 'Bearer secret',
    cookie: 'session=secret',
    'x-request-id': 'r-1',
  }
  const added = { params: { id: '5' }, query: { page: '2' }, body: {}, route: { path: '/:id' }, baseUrl: '/orders' }
  const facts = await readRequest('/orders/5?page=2', headers, (request) =>
    requestFacts(Object.assign(request, added), NO_OPTIONS),
  )
  expect(facts).toMatchObject({
    request_url: expect.stringMatching(/^http:\/\/localhost:\d+\/orders\/5\?page=2$/),
    request_params: { query: { page: '2' }, params: { id: '5' } },
    user_agent: 'curl/8',
    request: { method: 'GET', route: '/orders/:id', content_type: 'application/json' },
  })
  expect(facts.request?.headers).toMatchObject({ 'x-request-id': 'r-1' })
  expect(JSON.stringify(facts)).not.toContain('secret')
  expect(facts.request?.duration_ms).toBeGreaterThanOrEqual(0)
})

test('uses forwarding headers only behind a trusted proxy', async () => {
  const forwarded = { 'x-forwarded-for': '198.51.100.7, 10.0.0.1' }
  const address = async (properties: object, trusted_proxies: readonly string[]) =>
    readRequest('/', forwarded, (request) => {
      return requestFacts(Object.assign(request, properties), { ...NO_OPTIONS, trusted_proxies }).ip_address
    })
  expect(await address({}, [])).toMatch(/127\.0\.0\.1|::1/)
  expect(await address({}, ['loopback', 'private'])).toBe('198.51.100.7')
  expect(await address({}, ['10.0.0.0/8'])).toMatch(/127\.0\.0\.1|::1/)
  // A framework with its own proxy configuration takes precedence.
  expect(await address({ ip: '203.0.113.9' }, [])).toBe('203.0.113.9')
  expect(await address({ ip: 'not an address' }, [])).toMatch(/127\.0\.0\.1|::1/)
})

test('describes a standard Request with the same fields', () => {
  const request = new Request('https://shop.example/cart?item=5&item=6', {
    method: 'PUT',
    headers: { 'user-agent': 'Mozilla/5.0', 'content-type': 'text/plain', cookie: 'a=secret' },
  })
  const facts = webRequestFacts(request, NO_OPTIONS, {
    remote_address: '192.0.2.1',
    params: { id: 1 },
    user: { id: 9 },
  })
  expect(facts).toMatchObject({
    request_url: 'https://shop.example/cart?item=5&item=6',
    request_params: { query: { item: '6' }, params: { id: 1 } },
    ip_address: '192.0.2.1',
    user_id: 9,
    request: { method: 'PUT', content_type: 'text/plain' },
  })
  expect(JSON.stringify(facts)).not.toContain('secret')
})

test('passes the request object of the framework to user_callback', () => {
  const request = new Request('https://shop.example/')
  const host = { get: () => 'eve' }
  const user_callback = (request: unknown) => (request as typeof host).get?.()
  expect(webRequestFacts(request, { ...NO_OPTIONS, user_callback }, { host, user: { id: 1 } })).toMatchObject({
    user_id: 'eve',
    request: expect.not.objectContaining({ host }),
  })
})

test.each([
  [{ user: { id: 7 } }, 7],
  [{ user: { _id: { toHexString: () => 'ff', toString: () => 'ff' } } }, 'ff'],
  [{ user: 'eve' }, 'eve'],
  [{ auth: { sub: 'auth0|1' } }, 'auth0|1'],
  [{ auth: { userId: 'u1' } }, 'u1'],
  [{ session: { id: 'a-secret-session', user: { id: 3 } } }, 3],
  [{ session: { id: 'a-secret-session', passport: { user: 4 } } }, 4],
  [{ session: { id: 'a-secret-session', userId: 5 } }, 5],
  [{ session: { id: 'a-secret-session' } }, undefined],
  [{ state: { user: { uuid: 'x' } } }, 'x'],
  [{ user: null, auth: undefined }, undefined],
  [{}, undefined],
])('finds the user in the usual places: %j', (request, id) => {
  expect(findUserId(request, null)).toBe(id)
})

test('uses user_callback and records the error without a user if it fails', () => {
  expect(findUserId({ user: { id: 1 } }, () => 'mine')).toBe('mine')
  expect(findUserId({ user: { id: 1 } }, () => ({ id: 12n }))).toBe('12')
  expect(findUserId({ user: { id: 1 } }, () => null)).toBeUndefined()
  const failing = () => {
    throw new Error('of the host')
  }
  expect(findUserId({ user: { id: 1 } }, failing)).toBeUndefined()
  const hostile = Object.defineProperty({}, 'user', { get: failing })
  expect(findUserId(hostile, null)).toBeUndefined()
})
