import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { capture, dashboard, withFaultboard } from '../../src/adapters/fetch.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { describeAdapter, failingStream, HOST_HEADERS, ROUTES, sendResult, type Variant } from '../contract/adapter.js'
import { signIn, startListening } from '../support/host.js'
import { FORM, firstRecordedError, occurrencesByMessage, testTracker } from './served.js'

type FetchHandler = (request: Request, env: HttpBindings) => Response | Promise<Response>

describeAdapter({
  name: 'Fetch',
  createHost: (tracker, variant) =>
    getRequestListener(createHost(tracker, variant) as never, { overrideGlobalObjects: false }) as never,
  readHeader: (request: Request, name) => request.headers.get(name),
  route: null,
  params: false,
  user_id: null,
  normalizedPaths: 'a Request has a normalized URL',
  undetectedFaults: { '/stream': 'the handler has returned the response before its stream is read' },
  unsupportedVariants: {
    parser: 'a Request has no parsed body',
    prefix: 'a Fetch handler has no routers; mount_path is the whole path',
  },
})

function createHost(tracker: TrackerInstance | null, variant: Variant): FetchHandler {
  const wrap = (handler: FetchHandler): FetchHandler =>
    tracker ? withFaultboard(handler, { tracker, remote_address: (_request, env) => peerAddress(env) }) : handler
  if (variant === 'default_handler') return wrap(route)
  if (variant === 'failing_handler') return wrap(handleErrors(wrap(route), variant))
  if (variant === 'headers') return wrap(setHeaders(handleErrors(route, variant)))
  if (variant === 'wrapped') return compress(handleErrors(wrap(route), variant))
  return handleErrors(wrap(route), variant)
}

function peerAddress({ incoming }: HttpBindings): string | undefined {
  return incoming.socket.remoteAddress
}

function route(request: Request): Response | Promise<Response> {
  const { pathname } = new URL(request.url)
  const run = ROUTES[pathname === '/orders/8' ? '/orders/:id' : pathname]
  if (run) return sendResult(run(), (text) => new Response(text))
  if (pathname === '/stream') return new Response(Readable.toWeb(failingStream()) as ReadableStream)
  if (pathname === '/passed') return Promise.reject(new Error('broken'))
  if (pathname === '/middleware') throw new Error('broken')
  return new Response('not found', { status: 404 })
}

function handleErrors(handler: FetchHandler, variant: Variant): FetchHandler {
  return async (request, env) => {
    try {
      return await handler(request, env)
    } catch (error) {
      if (variant === 'failing_handler') throw new Error('the error handler failed')
      return new Response(`host error: ${error instanceof Error ? error.message : error}`, { status: 503 })
    }
  }
}

function setHeaders(handler: FetchHandler): FetchHandler {
  return async (request, env) => {
    const response = await handler(request, env)
    for (const [name, value] of Object.entries(HOST_HEADERS)) response.headers.set(name, value)
    return response
  }
}

function compress(handler: FetchHandler): FetchHandler {
  return async (request, env) => {
    const response = await handler(request, env)
    if (!response.body || response.headers.has('content-encoding')) return response
    const body = response.body.pipeThrough(new CompressionStream('gzip'))
    const compressed = new Response(body, response)
    compressed.headers.set('content-encoding', 'gzip')
    compressed.headers.delete('content-length')
    return compressed
  }
}

function throwError(): never {
  throw new Error('broken')
}

describe('dashboard() for Fetch', () => {
  test('returns undefined for other paths and responds below the mount path', async () => {
    const tracker = testTracker()
    const serveDashboard = dashboard(tracker)
    for (const path of ['/', '/error_dashboardx', '/x/error_dashboard', '/?a=/error_dashboard'])
      expect(serveDashboard(new Request(`http://host${path}`))).toBeUndefined()
    const page = await serveDashboard(new Request('http://host/error_dashboard/overview', { headers: signIn() }))
    expect(await page?.text()).toContain('href="/error_dashboard/settings"')
    const anonymous = await serveDashboard(new Request('http://host/error_dashboard/overview'))
    expect(anonymous?.status).toBe(401)
  })

  test('reads a form', async () => {
    const tracker = testTracker()
    const logged = await tracker.Commands.LogError.call({ error_type: 'E', message: 'm' })
    const request = new Request(`https://host/error_dashboard/errors/${logged?.id}/assign`, {
      method: 'POST',
      headers: { ...signIn(), ...FORM },
      body: 'assigned_to=eve%40example.org',
    })
    expect((await dashboard(tracker)(request))?.status).toBe(302)
    expect(await tracker.Queries.ErrorsList.call({ assigned_to: 'eve@example.org' })).toHaveLength(1)
  })

  test('limits failed sign-ins per client address', async () => {
    const serveDashboard = dashboard(testTracker())
    const guess = (remote_address: string) => {
      const headers = signIn('admin', 'wrong')
      return serveDashboard(new Request('http://host/error_dashboard/errors', { headers }), { remote_address })
    }
    for (let i = 0; i < 20; i++) expect((await guess('192.0.2.1'))?.status).toBe(401)
    expect((await guess('192.0.2.1'))?.status).toBe(429)
    expect((await guess('192.0.2.2'))?.status).toBe(401)
  })

  test('serves no request if the tracker is turned off', () => {
    expect(dashboard(testTracker({ enabled: false }))(new Request('http://host/error_dashboard'))).toBeUndefined()
  })
})

describe('capture() for Fetch', () => {
  test('records an error with the details that the host adds', async () => {
    const tracker = testTracker()
    const request = new Request('http://host/orders/8?page=2', { headers: { 'user-agent': 'test' } })
    dashboard(tracker)(request)
    const details = { route: '/orders/[id]', params: { id: '8' }, user: { id: 7 }, remote_address: '192.0.2.1' }
    const error = new Error('broken')
    capture(tracker)(error, request, details)
    capture(tracker)(error, request, details)
    expect(await firstRecordedError(tracker)).toMatchObject({
      occurrence_count: 1,
      user_id: '7',
      user_agent: 'test',
      ip_address: '192.0.2.1',
      request_params: { query: { page: '2' }, params: { id: '8' } },
      request: { method: 'GET', route: '/orders/[id]', duration_ms: expect.any(Number) },
    })
  })

  test('counts an error with a 4xx status without recording it', async () => {
    const tracker = testTracker()
    capture(tracker)(Object.assign(new Error('no such order'), { status: 404 }), new Request('http://host/'))
    expect(await occurrencesByMessage(tracker)).toEqual({})
    expect((await tracker.stats()).dropped).toEqual({ client_error: 1 })
  })

  test('records an error without details, and with an address that cannot be read', async () => {
    const tracker = testTracker()
    const client = {
      get remote_address(): string {
        throw new Error('The proxy did not send the address')
      },
    }
    expect(dashboard(tracker)(new Request('http://host/'), client)).toBeUndefined()
    expect((await dashboard(tracker)(new Request('http://host/error_dashboard/errors'), client))?.status).toBe(401)
    capture(tracker)(new Error('broken'), new Request('http://host/'), Object.assign(client, { route: '/' }))
    capture(tracker)(new Error('also broken'), new Request('http://host/'), null)
    expect(await occurrencesByMessage(tracker)).toEqual({ broken: 1, 'also broken': 1 })
  })

  test('does not throw after the tracker was shut down', async () => {
    const tracker = testTracker()
    const recordError = capture(tracker)
    await tracker.shutdown()
    expect(() => recordError(new Error('broken'), new Request('http://host/'))).not.toThrow()
  })
})

describe('withFaultboard() for Fetch', () => {
  test('keeps synchronous results, promises and objects with then', async () => {
    const tracker = testTracker()
    const request = new Request('http://host/')
    const response = new Response('ok')
    expect(withFaultboard(() => response, { tracker })(request)).toBe(response)
    expect(await withFaultboard(async () => response, { tracker })(request)).toBe(response)
    const rejected = {
      // biome-ignore lint/suspicious/noThenProperty: some frameworks return such an object
      then: (_done: unknown, fail: (error: unknown) => never) => Promise.reject(new Error('x')).catch(fail),
    }
    await expect(withFaultboard(() => rejected, { tracker })(request)).rejects.toThrow('x')
    expect(() => withFaultboard(throwError, { tracker })(request)).toThrow('broken')
    expect(await occurrencesByMessage(tracker)).toEqual({ x: 1, broken: 1 })
  })

  test('passes all arguments to the handler and ignores a failing remote_address', async () => {
    const tracker = testTracker()
    const handle = withFaultboard((_request: Request, server: { name: string }) => new Response(server.name), {
      tracker,
      remote_address: throwError,
    })
    expect(await (await handle(new Request('http://host/'), { name: 'bun' })).text()).toBe('bun')
    expect((await handle(new Request('http://host/error_dashboard'), { name: 'bun' })).status).toBe(401)
  })

  test('wraps a Bun-style handler and passes it its server', async () => {
    const tracker = testTracker()
    const server = { requestIP: (_request: Request) => ({ address: '192.0.2.1' }) }
    const app = {
      fetch: withFaultboard((_request: Request, _server: typeof server): Response => throwError(), {
        tracker,
        remote_address: (request, { requestIP }) => requestIP(request)?.address,
      }),
    }
    expect(() => app.fetch(new Request('http://host/'), server)).toThrow('broken')
    expect(await firstRecordedError(tracker)).toMatchObject({ message: 'broken', ip_address: '192.0.2.1' })
  })

  test('adds context, user and breadcrumbs of the request to its errors', async () => {
    const tracker = testTracker({ request_scope: 'always', enable_breadcrumbs: true })
    const handle = withFaultboard(
      async () => {
        tracker.setContext({ order_id: 8 })
        tracker.setUser(7)
        tracker.addBreadcrumb({ category: 'cart', message: 'item added' })
        throw new Error('broken')
      },
      { tracker },
    )
    const listener = getRequestListener(handle as never, {
      overrideGlobalObjects: false,
      errorHandler: () => new Response('', { status: 500 }),
    })
    const server = createServer(listener as never)
    onTestFinished(() => void server.close())
    const origin = await startListening(server)
    await Promise.all([fetch(`${origin}/a`), fetch(`${origin}/b`)])
    expect(await firstRecordedError(tracker)).toMatchObject({
      occurrence_count: 2,
      user_id: '7',
      context: { order_id: 8 },
      breadcrumbs: [{ message: 'item added' }],
    })
  })
})
