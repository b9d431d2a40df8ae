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
import { listening, PASSWORD, signIn, USER } from '../support/host.js'
import { firstRecorded, ownTracker, served } from './served.js'

/** The older major has no types of its own here; what is used of it is the same. */
const express4 = createRequire(import.meta.url)('express4') as typeof express

const NO_ERROR = 'Express takes what is thrown as null or undefined for no error at all'

describeAdapter({
  name: 'Express 5',
  host: (tracker, variant) => host(express, tracker, variant),
  params: false,
  unseen: { '/null': NO_ERROR, '/undefined': NO_ERROR },
})

describeAdapter({
  name: 'Express 4',
  host: (tracker, variant) => host(express4, tracker, variant),
  params: false,
  unseen: {
    '/null': NO_ERROR,
    '/undefined': NO_ERROR,
    '/async': 'Express 4 leaves rejections to the process',
    '/awaited': 'Express 4 leaves rejections to the process',
  },
})

function host(framework: typeof express, tracker: TrackerInstance | null, variant: Variant): Express {
  const app = framework().set('env', 'production')
  if (variant === 'parser') app.use(framework.urlencoded({ extended: true }), framework.json())
  if (variant === 'headers')
    app.use((_request, response, next) => {
      response.set(HOST_HEADERS)
      next()
    })
  if (variant === 'wrapped') app.use((_request, response, next) => next(compress(response)))
  if (tracker && variant === 'prefix') app.use('/admin', framework.Router().use(dashboard(tracker)))
  else if (tracker) app.use(dashboard(tracker))
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
  if (tracker) app.use(capture(tracker))
  if (variant === 'failing_handler') app.use(failing)
  else if (variant !== 'default_handler') app.use(answer)
  // Once more: this one sees what the host's own error handlers throw.
  if (tracker) app.use(capture(tracker))
  return app
}

const answer: ErrorRequestHandler = (error, _request, response, next) => {
  if (response.headersSent) next(error)
  else response.status(503).send(`host says: ${error.message ?? error}`)
}

// Express knows error handlers by their four parameters.
const failing: ErrorRequestHandler = (_error, _request, _response, _next) => {
  throw new Error('the handler is broken')
}

describe('a form that only the simple parser has read', () => {
  test('is understood', async () => {
    const mine = tracker()
    const app = express()
      .use(express.urlencoded({ extended: false }))
      .use(dashboard(mine))
    const server = createServer(app)
    const origin = await listening(server)
    const one = await mine.Commands.LogError.call({ error_type: 'one', message: 'one' })
    const two = await mine.Commands.LogError.call({ error_type: 'two', message: 'two' })
    const answered = await fetch(`${origin}/error_dashboard/errors/batch_action`, {
      method: 'POST',
      redirect: 'manual',
      headers: { ...signIn(), 'content-type': 'application/x-www-form-urlencoded' },
      body: `error_ids[]=${one?.id}&error_ids[]=${two?.id}&action_type=resolve`,
    })
    expect(answered.status).toBe(302)
    expect(await mine.Queries.ErrorsList.call({ status: 'resolved' })).toHaveLength(2)
    server.closeAllConnections()
    server.close()
    await mine.shutdown()
  })
})

function tracker() {
  return new TrackerInstance(
    { database: 'sqlite::memory:', dashboard_username: USER, dashboard_password: PASSWORD },
    { env: {}, write: () => {} },
  )
}

test.each([
  ['the handler has set 404', 404, {}, 404, 'low'],
  ['the error requests 503 after the handler has set 404', 404, { status: 503 }, 503, 'medium'],
  ['the handler has set 502', 502, {}, 502, 'medium'],
])('grades an error by the status of its response where %s', async (_, code, more, status, severity) => {
  const mine = ownTracker()
  const app = express().set('env', 'test')
  app.get('/', (_request, response) => {
    response.status(code)
    throw Object.assign(new Error('broken'), more)
  })
  const get = await served(app.use(capture(mine)))
  expect((await get('/')).status).toBe(status)
  expect(await firstRecorded(mine)).toMatchObject({ message: 'broken', severity })
})

test('in a router of the host the dashboard stands below that router', async () => {
  const mine = tracker()
  const app = express()
    .use(
      '/admin',
      express
        .Router()
        .use(dashboard(mine))
        .get('/ok', (_request, response) => void response.send('ok')),
    )
    .use('/error_dashboard', dashboard(mine))
  const server = app.listen(0)
  const origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  const get = (path: string) => fetch(`${origin}${path}`, { headers: signIn(), redirect: 'manual' })
  expect((await get('/admin/error_dashboard')).headers.get('location')).toBe('/admin/error_dashboard/overview')
  expect(await (await get('/admin/ok')).text()).toBe('ok')
  expect(await (await get('/error_dashboard/overview')).text()).toContain('href="/error_dashboard/settings"')
  server.closeAllConnections()
  server.close()
  await mine.shutdown()
})

test.each([
  { trusted: true, status: 200 },
  { trusted: false, status: 429 },
])('sign-ins are counted by the address the host believes in: trust proxy $trusted', async ({ trusted, status }) => {
  const mine = tracker()
  const { createServer } = await import('node:http')
  const server = createServer(express().set('trust proxy', trusted).use(dashboard(mine)))
  const origin = await listening(server)
  const visit = async (from: string, password = PASSWORD) =>
    (
      await fetch(`${origin}/error_dashboard/errors`, {
        headers: { ...signIn(USER, password), 'x-forwarded-for': from },
      })
    ).status
  for (let i = 0; i < 21; i++) await visit(`192.0.2.${i}`, `guess ${i}`)
  expect(await visit('198.51.100.1')).toBe(status)
  // One address is slowed down either way, and the right password does not help it.
  for (let i = 0; i < 20; i++) await visit('203.0.113.1', `guess ${i}`)
  expect(await visit('203.0.113.1')).toBe(429)
  server.closeAllConnections()
  server.close()
  await mine.shutdown()
})

test('errors that the host means for its client are not recorded', async () => {
  const mine = tracker()
  const app = express()
    .get('/', () => {
      throw Object.assign(new Error('no such thing'), { status: 404 })
    })
    .use(capture(mine))
    .use(answer)
  const server = createServer(app)
  const origin = await listening(server)
  expect((await fetch(origin)).status).toBe(503)
  await mine.flush()
  expect(await mine.Queries.ErrorsList.call()).toEqual([])
  expect((await mine.stats()).dropped).toEqual({ client_error: 1 })
  server.closeAllConnections()
  server.close()
  await mine.shutdown()
})

test('a request that cannot be read does not keep the error from being recorded', async () => {
  const mine = tracker()
  const seen: unknown[] = []
  const error = new Error('broken')
  const hostile = new Proxy({} as never, {
    get() {
      throw new Error('the request is hostile')
    },
  })
  capture(mine)(error, hostile, {} as never, (passed) => seen.push(passed))
  expect(seen).toEqual([error])
  await mine.flush()
  expect(await mine.Queries.ErrorsList.call()).toHaveLength(1)
  await mine.shutdown()
})

test('one error object is recorded once, however many hooks of one request see it', async () => {
  const mine = tracker()
  const constant = new Error('a constant of the host')
  const router = express
    .Router()
    .get('/twice', () => {
      throw new Error('seen twice')
    })
    .get('/logged', async () => {
      const error = new Error('logged and thrown on')
      await mine.Commands.LogError.call({ exception: error })
      throw error
    })
    .get('/constant', () => {
      throw constant
    })
    .use(capture(mine))
  const server = createServer(express().use(router).use(capture(mine)).use(answer))
  const origin = await listening(server)
  for (const path of ['/twice', '/logged', '/constant', '/constant']) await fetch(`${origin}${path}`)
  await mine.flush()
  const counts = Object.fromEntries(
    (await mine.Queries.ErrorsList.call()).map((error) => [error.message, error.occurrence_count]),
  )
  expect(counts).toEqual({ 'seen twice': 1, 'logged and thrown on': 1, 'a constant of the host': 2 })
  server.closeAllConnections()
  server.close()
  await mine.shutdown()
})
