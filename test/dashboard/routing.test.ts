import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Host, signIn, startHost } from '../support/host.js'

let host: Host
beforeAll(async () => {
  host = await startHost('sqlite::memory:')
  await host.tracker.Commands.LogError.call({ error_type: 'E', message: 'm' })
})
afterAll(() => host.close())

test.each([
  ['GET', '/errors', 200],
  ['GET', '/errors/1', 200],
  ['GET', '/errors/changes', 422],
  ['GET', '/assets/dashboard.css', 200],
  ['GET', '/no/such/page', 404],
  ['POST', '/errors/1/add_comment', 302],
])('matches the path of %s %s without a second Request', async (method, path, status) => {
  const request = new Request(`http://ops.example/error_dashboard${path}`, {
    method,
    headers: { ...signIn(), host: 'ops.example' },
    body: method === 'POST' ? new URLSearchParams({ author_name: 'Ann', body: 'Seen' }) : null,
  })
  const constructed = vi.fn()
  class CountedRequest extends Request {
    constructor(...parts: ConstructorParameters<typeof Request>) {
      super(...parts)
      constructed(parts[0])
    }
  }
  vi.stubGlobal('Request', CountedRequest)
  try {
    const mount = { base: '/error_dashboard', path, remote_address: '10.0.0.1' }
    expect((await host.tracker.handle(request, mount)).status).toBe(status)
  } finally {
    vi.unstubAllGlobals()
  }
  expect(constructed).not.toHaveBeenCalled()
  expect(request.bodyUsed).toBe(method === 'POST')
})

test.each(['/errors', '/errors/1', '/openapi', '/assets/dashboard.css'])(
  'responds to HEAD %s with the status and headers of GET, without a body',
  async (path) => {
    const url = `${host.origin}/error_dashboard${path}`
    // Sequential, because vitest returns a half-loaded module to the second of two concurrent dynamic imports.
    const get = await fetch(url, { headers: signIn() })
    const head = await fetch(url, { method: 'HEAD', headers: signIn() })
    expect(head.status).toBe(200)
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
    expect([await get.text(), await head.text()]).toEqual([expect.stringMatching(/./), ''])
  },
)

test.each([
  ['PUT', '/errors'],
  ['DELETE', '/errors/1'],
  ['POST', '/overview'],
  ['GET', '/errors/1/resolve'],
  ['GET', '/errors/x'],
  ['GET', '/errors/1/2'],
  ['GET', '/__proto__'],
  ['GET', '/constructor'],
])('returns 404 for %s %s', async (method, path) => {
  const response = await fetch(`${host.origin}/error_dashboard${path}`, { method, headers: signIn() })
  expect(response.status).toBe(404)
})

test('starts concurrent requests in different event loop iterations', async () => {
  let iteration = 0
  let isOver = false
  const count = () => {
    iteration++
    if (!isOver) setImmediate(count)
  }
  const startedIn = new Map<Request, number>()
  const visit = () => {
    const request = new Request('http://ops.example/error_dashboard/settings', { headers: signIn() })
    const { headers } = request
    // The handler reads the headers when it starts.
    Object.defineProperty(request, 'headers', {
      get() {
        if (!startedIn.has(request)) startedIn.set(request, iteration)
        return headers
      },
    })
    return host.tracker.handle(request, { base: '/error_dashboard', path: '/settings', remote_address: '10.0.0.1' })
  }
  setImmediate(count)
  await Promise.all([visit(), visit(), visit(), visit()])
  isOver = true
  expect(new Set(startedIn.values()).size).toBe(4)
})
