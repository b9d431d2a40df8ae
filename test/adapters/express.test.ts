import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { pipeline } from 'node:stream'
import express, { type ErrorRequestHandler, type Express } from 'express'
import { describe, expect, test } from 'vitest'
import { capture, dashboard } from '../../src/adapters/express.js'
import { TrackerInstance } from '../../src/tracker.js'
import {
  compress,
  describeAdapter,
  failingStream,
  HOST_HEADERS,
  ROUTES,
  sendResult,
  type Variant,
} from '../contract/adapter.js'
import { PASSWORD, signIn, startListening, USER } from '../support/host.js'
import { firstRecordedError, serveHost, testTracker } from './served.js'

/** Express 4 has no own types here; the APIs used are the same. */
const express4 = createRequire(import.meta.url)('express4') as typeof express

const NULLISH_REASON = 'Express does not treat a thrown null or undefined as an error'

describeAdapter({
  name: 'Express 5',
  createHost: (createTracker, variant) => createHost(express, createTracker, variant),
  params: false,
  undetectedFaults: { '/null': NULLISH_REASON, '/undefined': NULLISH_REASON },
})

describeAdapter({
  name: 'Express 4',
  createHost: (createTracker, variant) => createHost(express4, createTracker, variant),
  params: false,
  undetectedFaults: {
    '/null': NULLISH_REASON,
    '/undefined': NULLISH_REASON,
    '/async': 'Express 4 leaves rejections to the process',
    '/awaited': 'Express 4 leaves rejections to the process',
  },
})

function createHost(framework: typeof express, createTracker: TrackerInstance | null, variant: Variant): Express {
  const app = framework().set('env', 'production')
  if (variant === 'parser') app.use(framework.urlencoded({ extended: true }), framework.json())
  if (variant === 'headers')
    app.use((_request, response, next) => {
      response.set(HOST_HEADERS)
      next()
    })
  if (variant === 'wrapped') app.use((_request, response, next) => next(compress(response)))
  if (createTracker && variant === 'prefix') app.use('/admin', framework.Router().use(dashboard(createTracker)))
  else if (createTracker) app.use(dashboard(createTracker))
  app.use((request, _response, next) => {
    Object.assign(request, { user: { id: 7 } })
    next()
  })
  app.use('/middleware', () => {
    throw new Error('broken')
  })
  app.get('/passed', (_request, _response, next) => next(new Error('broken')))
  app.get('/stream', (_request, response, next) => void pipeline(failingStream(), response, next))
  for (const [path, run] of Object.entries(ROUTES))
    app.get(path, (_request, response) => sendResult(run(), (text) => void response.send(text)))
  if (createTracker) app.use(capture(createTracker))
  if (variant === 'failing_handler') app.use(failingHandler)
  else if (variant !== 'default_handler') app.use(respondWithError)
  // The second middleware receives errors thrown by the error handlers of the host.
  if (createTracker) app.use(capture(createTracker))
  return app
}

const respondWithError: ErrorRequestHandler = (error, _request, response, next) => {
  if (response.headersSent) next(error)
  else response.status(503).send(`host error: ${error.message ?? error}`)
}

// Express recognizes error handlers by their four parameters.
const failingHandler: ErrorRequestHandler = (_error, _request, _response, _next) => {
  throw new Error('the error handler failed')
}

describe('dashboard', () => {
  test('accepts a form parsed by express.urlencoded without extended syntax', async () => {
    const tracker = createTracker()
    const app = express()
      .use(express.urlencoded({ extended: false }))
      .use(dashboard(tracker))
    const server = createServer(app)
    const origin = await startListening(server)
    const first = await tracker.Commands.LogError.call({ error_type: 'one', message: 'one' })
    const second = await tracker.Commands.LogError.call({ error_type: 'two', message: 'two' })
    const response = await fetch(`${origin}/error_dashboard/errors/batch_action`, {
      method: 'POST',
      redirect: 'manual',
      headers: { ...signIn(), 'content-type': 'application/x-www-form-urlencoded' },
      body: `error_ids[]=${first?.id}&error_ids[]=${second?.id}&action_type=resolve`,
    })
    expect(response.status).toBe(302)
    expect(await tracker.Queries.ErrorsList.call({ status: 'resolved' })).toHaveLength(2)
    server.closeAllConnections()
    server.close()
    await tracker.shutdown()
  })

  test('accepts an action without a body if the host has already consumed the request', async () => {
    const tracker = createTracker()
    const app = express()
      .use((request, _response, next) => void request.resume().once('end', next))
      .use(dashboard(tracker))
    const server = createServer(app)
    const origin = await startListening(server)
    const logged = await tracker.Commands.LogError.call({ error_type: 'one', message: 'one' })
    const address = `${origin}/error_dashboard/errors/${logged?.id}/resolve`
    const response = await fetch(address, { method: 'POST', redirect: 'manual', headers: signIn() })
    expect(response.status).toBe(302)
    expect(await tracker.Queries.ErrorsList.call({ status: 'resolved' })).toHaveLength(1)
    server.closeAllConnections()
    server.close()
    await tracker.shutdown()
  })
})

function createTracker() {
  return new TrackerInstance(
    { database: 'sqlite::memory:', dashboard_username: USER, dashboard_password: PASSWORD },
    { env: {}, write: () => {} },
  )
}

test.each([
  ['the handler set 404', 404, {}, 404, 'low'],
  ['the error requests 503 after the handler set 404', 404, { status: 503 }, 503, 'medium'],
  ['the handler set 502', 502, {}, 502, 'medium'],
])('grades an error by the status of its response if %s', async (_, code, properties, status, severity) => {
  const tracker = testTracker()
  const app = express().set('env', 'test')
  app.get('/', (_request, response) => {
    response.status(code)
    throw Object.assign(new Error('broken'), properties)
  })
  const get = await serveHost(app.use(capture(tracker)))
  expect((await get('/')).status).toBe(status)
  expect(await firstRecordedError(tracker)).toMatchObject({ message: 'broken', severity })
})

test('serves the dashboard below the router it is mounted in', async () => {
  const tracker = createTracker()
  const app = express()
    .use(
      '/admin',
      express
        .Router()
        .use(dashboard(tracker))
        .get('/ok', (_request, response) => void response.send('ok')),
    )
    .use('/error_dashboard', dashboard(tracker))
  const server = app.listen(0)
  const origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  const get = (path: string) => fetch(`${origin}${path}`, { headers: signIn(), redirect: 'manual' })
  expect((await get('/admin/error_dashboard')).headers.get('location')).toBe('/admin/error_dashboard/overview')
  expect(await (await get('/admin/ok')).text()).toBe('ok')
  expect(await (await get('/error_dashboard/overview')).text()).toContain('href="/error_dashboard/settings"')
  server.closeAllConnections()
  server.close()
  await tracker.shutdown()
})

test.each([
  { trusted: true, status: 200 },
  { trusted: false, status: 429 },
])('limits sign-ins by the client address of Express (trust proxy: $trusted)', async ({ trusted, status }) => {
  const tracker = createTracker()
  const { createServer } = await import('node:http')
  const server = createServer(express().set('trust proxy', trusted).use(dashboard(tracker)))
  const origin = await startListening(server)
  const requestStatus = async (from: string, password = PASSWORD) =>
    (
      await fetch(`${origin}/error_dashboard/errors`, {
        headers: { ...signIn(USER, password), 'x-forwarded-for': from },
      })
    ).status
  for (let i = 0; i < 21; i++) await requestStatus(`192.0.2.${i}`, `guess ${i}`)
  expect(await requestStatus('198.51.100.1')).toBe(status)
  // A single address is limited in both cases, even with the correct password.
  for (let i = 0; i < 20; i++) await requestStatus('203.0.113.1', `guess ${i}`)
  expect(await requestStatus('203.0.113.1')).toBe(429)
  server.closeAllConnections()
  server.close()
  await tracker.shutdown()
})

test('does not record errors with a client error status', async () => {
  const tracker = createTracker()
  const app = express()
    .get('/', () => {
      throw Object.assign(new Error('not found'), { status: 404 })
    })
    .use(capture(tracker))
    .use(respondWithError)
  const server = createServer(app)
  const origin = await startListening(server)
  expect((await fetch(origin)).status).toBe(503)
  await tracker.flush()
  expect(await tracker.Queries.ErrorsList.call()).toEqual([])
  expect((await tracker.stats()).dropped).toEqual({ client_error: 1 })
  server.closeAllConnections()
  server.close()
  await tracker.shutdown()
})

test('records an error even if its request cannot be read', async () => {
  const tracker = createTracker()
  const passed: unknown[] = []
  const error = new Error('broken')
  const hostile = new Proxy({} as never, {
    get() {
      throw new Error('the request is hostile')
    },
  })
  capture(tracker)(error, hostile, {} as never, (passedError) => passed.push(passedError))
  expect(passed).toEqual([error])
  await tracker.flush()
  expect(await tracker.Queries.ErrorsList.call()).toHaveLength(1)
  await tracker.shutdown()
})

test('records an error object once per request, even if several hooks receive it', async () => {
  const tracker = createTracker()
  const constant = new Error('constant of the host')
  const router = express
    .Router()
    .get('/twice', () => {
      throw new Error('captured twice')
    })
    .get('/logged', async () => {
      const error = new Error('logged and rethrown')
      await tracker.Commands.LogError.call({ exception: error })
      throw error
    })
    .get('/constant', () => {
      throw constant
    })
    .use(capture(tracker))
  const server = createServer(express().use(router).use(capture(tracker)).use(respondWithError))
  const origin = await startListening(server)
  for (const path of ['/twice', '/logged', '/constant', '/constant']) await fetch(`${origin}${path}`)
  await tracker.flush()
  const counts = Object.fromEntries(
    (await tracker.Queries.ErrorsList.call()).map((error) => [error.message, error.occurrence_count]),
  )
  expect(counts).toEqual({ 'captured twice': 1, 'logged and rethrown': 1, 'constant of the host': 2 })
  server.closeAllConnections()
  server.close()
  await tracker.shutdown()
})
