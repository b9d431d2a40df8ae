import type { RequestListener } from 'node:http'
import express from 'express'
import Fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { capture } from '../../../src/adapters/express.js'
import { faultboard } from '../../../src/adapters/fastify.js'
import type { TrackerInstance } from '../../../src/tracker.js'
import { firstRecordedError, occurrencesByMessage, serveHost, testTracker } from '../../adapters/served.js'

interface FailingRoutes {
  throwError(): never
  logError(): Promise<unknown>
}

type StartHost = (tracker: TrackerInstance, routes: FailingRoutes) => Promise<RequestListener>

const HOSTS: Record<string, StartHost> = {
  Express: async (tracker, routes) => expressHost(routes, [capture(tracker)]),
  'Express with two capture middlewares': async (tracker, routes) =>
    expressHost(routes, [capture(tracker), capture(tracker)]),
  async Fastify(tracker, { throwError, logError }) {
    const app = Fastify()
    onTestFinished(() => app.close())
    app.register(faultboard, { tracker })
    app.get('/thrown', throwError)
    app.get('/logged', async () => {
      await logError()
      return 'ok'
    })
    await app.ready()
    return (request, response) => app.routing(request, response)
  },
}

function expressHost(
  { throwError, logError }: FailingRoutes,
  middlewares: ReturnType<typeof capture>[],
): RequestListener {
  const app = express()
  app.get('/thrown', throwError)
  app.get('/logged', async (_request, response) => {
    await logError()
    response.send('ok')
  })
  for (const middleware of middlewares) app.use(middleware)
  return app.use((_error: unknown, _request: unknown, response: express.Response, _next: unknown) => {
    response.status(500).send('failed')
  })
}

test.each(Object.keys(HOSTS))(
  'calls user_callback once per thrown error inside a request scope on %s',
  async (name) => {
    const { send, tracker, paths } = await startHost(name)
    await send('/thrown')
    expect(paths).toEqual(['/thrown'])
    await send('/thrown')
    expect(paths).toEqual(['/thrown', '/thrown'])
    expect(await occurrencesByMessage(tracker)).toEqual({ 'from a handler': 2 })
    expect((await firstRecordedError(tracker)).user_id).toBe('user-2')
  },
)

test.each(Object.keys(HOSTS))('calls user_callback once per LogError inside a request scope on %s', async (name) => {
  const { send, tracker, paths } = await startHost(name)
  await send('/logged')
  expect(paths).toEqual(['/logged'])
  expect(await occurrencesByMessage(tracker)).toEqual({ 'from LogError': 1 })
  const { user_id, request_url } = await firstRecordedError(tracker)
  expect({ user_id, request_url }).toEqual({ user_id: 'user-1', request_url: expect.stringContaining('/logged') })
})

test('reads the request of the scope for a LogError call with some fields of a request', async () => {
  const { send, tracker, paths } = await startHost('Express', { request: { route: '/given' } })
  await send('/logged')
  expect(paths).toEqual(['/logged'])
  const { user_id, request_url, request } = await firstRecordedError(tracker)
  expect({ user_id, request_url }).toEqual({ user_id: 'user-1', request_url: expect.stringContaining('/logged') })
  expect(request).toMatchObject({ route: '/given' })
})

/** Starts a host with a scope for every request. `paths` has one entry for each call of `user_callback`. */
async function startHost(name: string, fields: object = {}) {
  const paths: unknown[] = []
  const tracker = testTracker({
    request_scope: 'always',
    user_callback: (request) => `user-${paths.push((request as { url?: string }).url)}`,
  }).start()
  const listener = await HOSTS[name]?.(tracker, {
    throwError: () => {
      throw new Error('from a handler')
    },
    logError: () => tracker.Commands.LogError.call({ exception: new Error('from LogError'), ...fields }),
  })
  const send = await serveHost(listener as RequestListener)
  return { tracker, paths, send: async (path: string) => void (await (await send(path)).text()) }
}
