import { once } from 'node:events'
import { Agent, get, type IncomingMessage, type Server } from 'node:http'
import { Readable } from 'node:stream'
import { getRequestListener, serve } from '@hono/node-server'
import express from 'express'
import { type Context, Hono } from 'hono'
import { compress } from 'hono/compress'
import { cors } from 'hono/cors'
import { HTTPException } from 'hono/http-exception'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { faultboard } from '../../src/adapters/hono.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { describeAdapter, failingStream, HOST_HEADERS, ROUTES, sendResult, type Variant } from '../contract/adapter.js'
import { signIn } from '../support/host.js'
import { FORM, firstRecordedError, occurrencesByMessage, serveHost, testTracker } from './served.js'

type Env = { Variables: { user: { id: number } } }

const STREAM_REASON = 'Hono has returned the response before its stream is read'

describeAdapter({
  name: 'Hono',
  createHost: (tracker, variant) =>
    getRequestListener(createHost(tracker, variant).fetch, { overrideGlobalObjects: false }) as never,
  readHeader: (c: Context, name) => c.req.header(name),
  undetectedFaults: { '/stream': STREAM_REASON },
})

function createHost(tracker: TrackerInstance | null, variant: Variant): Hono<Env> {
  const app = new Hono<Env>()
  if (variant === 'parser') {
    app.use(async (c, next) => {
      if (c.req.method === 'POST') await c.req.parseBody()
      await next()
    })
  }
  if (variant === 'headers') {
    app.use(async (c, next) => {
      for (const [name, value] of Object.entries(HOST_HEADERS)) c.header(name, value)
      await next()
      for (const [name, value] of Object.entries(HOST_HEADERS)) c.res.headers.set(name, value)
    })
  }
  if (variant === 'wrapped') app.use(compress({ threshold: 0 }))
  if (tracker && variant === 'prefix') app.route('/admin', new Hono().use(faultboard(tracker)))
  else if (tracker) app.use(faultboard(tracker))
  app.use(async (c, next) => {
    c.set('user', { id: 7 })
    await next()
  })
  // The innermost middleware receives the original error before the failing error handler runs again.
  if (tracker && variant === 'failing_handler') app.use(faultboard(tracker))
  app.use('/middleware', () => {
    throw new Error('broken')
  })
  app.get('/passed', () => {
    throw new HTTPException(500, { message: 'broken' })
  })
  app.get('/stream', (c) => c.body(Readable.toWeb(failingStream()) as ReadableStream))
  for (const [path, run] of Object.entries(ROUTES)) app.get(path, (c) => sendResult(run(), (text) => c.text(text)))
  if (variant === 'failing_handler') {
    app.onError(() => {
      throw new Error('the error handler failed')
    })
  } else if (variant !== 'default_handler') app.onError((error, c) => c.text(`host error: ${error.message}`, 503))
  return app
}

/** Serves an application like the README of Hono, with the global classes of `serve`. Restores them after the test. */
async function serveByDefault(app: Hono): Promise<Server> {
  const { Request, Response } = globalThis
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
    Object.assign(globalThis, { Request, Response })
  })
  await once(server, 'listening')
  return server
}

function throwUnreadable(): never {
  throw new Error('unreadable')
}

const HOSTILE: [string, unknown][] = [
  ['an error with a getter that throws', Object.defineProperty(new Error(), 'message', { get: throwUnreadable })],
  ['a Proxy that throws', new Proxy(new Error('hidden'), { get: throwUnreadable })],
  ['a Proxy with a hostile prototype', new Proxy({}, { get: throwUnreadable, getPrototypeOf: throwUnreadable })],
]

describe('faultboard() for Hono', () => {
  test.each<[string, (app: Hono) => unknown]>([
    ['serve()', () => {}],
    ['serve() and a middleware that copies the response', (app) => app.use(cors())],
    ['serve() and compression', (app) => app.use(compress({ threshold: 0 }))],
  ])('writes each response once and keeps the connection open with %s', async (_title, addMiddleware) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => log.mockRestore())
    const app = new Hono()
    addMiddleware(app)
    app.use(faultboard(testTracker()))
    app.get('/ok', (c) => c.text('ok'))
    const { port } = (await serveByDefault(app)).address() as { port: number }
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const sockets = new Set<unknown>()
    const request = async (path: string) => {
      const [response] = (await once(get({ port, path, agent, headers: signIn() }), 'response')) as [IncomingMessage]
      sockets.add(response.socket)
      return response
    }
    for (const [path, status] of [
      ['/error_dashboard/errors', 200],
      ['/error_dashboard/errors.json', 200],
      ['/error_dashboard', 302],
      ['/error_dashboard/nothing', 404],
      ['/ok', 200],
    ] as const) {
      const response = await request(path)
      await response.toArray()
      expect([path, response.statusCode, response.complete]).toEqual([path, status, true])
    }
    expect(sockets.size).toBe(1)
    const live = await request('/error_dashboard/errors/live')
    expect(String((await once(live, 'data'))[0])).toContain('retry:')
    live.destroy()
    expect((await request('/ok')).statusCode).toBe(200)
    expect(log).not.toHaveBeenCalled()
  })

  test('serves the dashboard and records errors without a Node.js server', async () => {
    const tracker = testTracker()
    const app = new Hono().use(faultboard(tracker)).get('/orders/:id', () => {
      throw new Error('broken')
    })
    app.onError((error, c) => c.text(error.message, 503))
    const page = await app.request('/error_dashboard/overview', { headers: signIn() })
    expect(await page.text()).toContain('href="/error_dashboard/settings"')
    expect((await app.request('/error_dashboard')).status).toBe(401)
    expect((await app.request('/orders/8?page=2')).status).toBe(503)
    expect(await firstRecordedError(tracker)).toMatchObject({
      message: 'broken',
      request_params: { query: { page: '2' }, params: { id: '8' } },
      request: { method: 'GET', route: '/orders/:id', duration_ms: expect.any(Number) },
    })
    await tracker.shutdown()
    expect((await app.request('/error_dashboard')).status).toBe(500)
  })

  test.each([true, false])('reads a form (already parsed by the host: %s)', async (parsed) => {
    const tracker = testTracker()
    const app = new Hono()
    app.use(async (c, next) => {
      if (parsed) await c.req.parseBody()
      await next()
    })
    app.use(faultboard(tracker))
    const logged = await tracker.Commands.LogError.call({ error_type: 'E', message: 'm' })
    const response = await app.request(`/error_dashboard/errors/${logged?.id}/assign`, {
      method: 'POST',
      headers: { ...signIn(), ...FORM },
      body: 'assigned_to=eve%40example.org',
    })
    expect(response.status).toBe(302)
    expect(await tracker.Queries.ErrorsList.call({ assigned_to: 'eve@example.org' })).toHaveLength(1)
  })

  test('serves the dashboard below a base path with a parameter', async () => {
    const app = new Hono().basePath('/api').route('/:tenant', new Hono().use(faultboard(testTracker())))
    const get = await serveHost(getRequestListener(app.fetch, { overrideGlobalObjects: false }) as never)
    expect((await get('/api/acme/error_dashboard')).headers.get('location')).toBe('/api/acme/error_dashboard/overview')
    expect((await get('/error_dashboard')).status).toBe(404)
  })

  test('serves the dashboard below the router of an outer framework', async () => {
    const app = new Hono().use(faultboard(testTracker()))
    const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
    const get = await serveHost(express().use('/outer', listener as never))
    expect((await get('/outer/error_dashboard')).headers.get('location')).toBe('/outer/error_dashboard/overview')
  })

  test('records errors that an inner application handles', async () => {
    const tracker = testTracker()
    const inner = new Hono().get('/', () => {
      throw new Error('broken')
    })
    inner.onError((_error, c) => c.text('inner', 500))
    const app = new Hono().use(faultboard(tracker)).route('/inner', inner)
    expect(await (await app.request('/inner')).text()).toBe('inner')
    expect(await occurrencesByMessage(tracker)).toEqual({ broken: 1 })
  })

  test.each(HOSTILE)('records and rethrows %s from a failing error handler', async (_title, thrown) => {
    const tracker = testTracker()
    const app = new Hono().use(faultboard(tracker)).get('/', () => {
      throw new Error('broken')
    })
    app.onError(() => {
      throw thrown
    })
    // Wrapped in an object, because resolving a promise with the hostile value reads its `then`.
    const rejection = await Promise.resolve(app.request('/')).catch((error: unknown) => ({ error }))
    expect('error' in rejection && rejection.error === thrown).toBe(true)
    expect(Object.values(await occurrencesByMessage(tracker))).toEqual([1, 1])
    expect(await occurrencesByMessage(tracker)).toMatchObject({ broken: 1 })
  })

  test('records the user of a JWT payload', async () => {
    const tracker = testTracker()
    const app = new Hono<{ Variables: { jwtPayload: { sub: string } } }>().use(faultboard(tracker)).get('/', (c) => {
      c.set('jwtPayload', { sub: 'u-1' })
      throw new Error('broken')
    })
    app.onError((_error, c) => c.text('', 500))
    await app.request('/')
    expect(await firstRecordedError(tracker)).toMatchObject({ user_id: 'u-1' })
  })
})
