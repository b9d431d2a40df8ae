import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createRequire } from 'node:module'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { dashboard } from '../../../src/adapters/express.js'
import { faultboard as faultboardOfFastify } from '../../../src/adapters/fastify.js'
import { faultboard as faultboardOfHono } from '../../../src/adapters/hono.js'
import { faultboard as faultboardOfKoa } from '../../../src/adapters/koa.js'
import { withFaultboard } from '../../../src/adapters/node.js'
import type { TrackerInstance } from '../../../src/tracker.js'
import { testTracker } from '../../adapters/served.js'
import { startProxy } from '../../support/databases/proxy.js'
import { describeEachDatabase } from '../../support/databases.js'
import { signIn, startListening } from '../../support/host.js'
import { eventually, freshStorage, temporaryFolder, trackerAt } from '../../support/tracker.js'
import { follow } from './follow.js'

const HOSTS: Record<string, (tracker: TrackerInstance) => Promise<Server> | Server> = {
  Express: (tracker) => createServer(express().use(dashboard(tracker)) as RequestListener),
  async Fastify(tracker) {
    const app = fastify().register(faultboardOfFastify, { tracker } as never)
    await app.ready()
    return app.server
  },
  Koa: (tracker) => createServer(new Koa().use(faultboardOfKoa(tracker)).callback()),
  Hono(tracker) {
    const app = new Hono().use(faultboardOfHono(tracker))
    return createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }) as RequestListener)
  },
  'node:http': (tracker) => createServer(withFaultboard(() => {}, tracker)),
}

const MAX_STREAMS = 50

describe.each(Object.entries(HOSTS))('the stream of changes in a host of %s', (_name, build) => {
  test('sends an event immediately for errors and actions of this process', async () => {
    const { tracker, live } = await serve(build)
    const stream = await follow(live)
    expect(stream.status).toBe(200)
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    })
    expect(stream.headers['content-length']).toBeUndefined()
    // The state may have changed since the page was rendered.
    expect(await stream.next()).toMatch(/^retry: 3000\nid: (\S+Z)\nevent: changed\ndata: {"at":"\1"}$/)
    const logged = await tracker.Commands.LogError.call({ error_type: 'E', message: 'm' })
    expect(await stream.next()).toMatch(/^id: (\S+Z)\nevent: changed\ndata: {"at":"\1"}$/)
    await tracker.Commands.BatchDeleteErrors.call({ error_ids: [logged?.id ?? 0] })
    expect(await stream.next()).toContain('event: changed')
  })

  test('does not prevent the host from closing', async () => {
    const { server, live } = await serve(build)
    const streams = [await follow(live), await follow(live)]
    const closed = once(server, 'close')
    server.close()
    await Promise.all(streams.map(({ ended }) => ended))
    await closed
  })

  test('ends a stream when the tracker is shut down', async () => {
    const { tracker, live } = await serve(build)
    const stream = await follow(live)
    await tracker.shutdown()
    await stream.ended
  })

  test('returns 503 beyond the limit and frees a slot when a client disconnects', async () => {
    const { live } = await serve(build)
    const streams = await Promise.all(Array.from({ length: MAX_STREAMS }, () => follow(live)))
    expect(streams.filter(({ status }) => status !== 200)).toEqual([])
    const refused = await fetch(live, { headers: { ...signIn(), accept: 'application/json' } })
    expect(refused.status).toBe(503)
    expect(await refused.json()).toEqual({ error: expect.stringContaining('Too many live connections (50)') })
    for (const { leave } of streams) leave()
    await eventually(async () => {
      const stream = await follow(live)
      stream.leave()
      return stream.status === 200
    }, 'a place was free')
  })

  test('requires credentials and responds to HEAD without opening a stream', async () => {
    const { live } = await serve(build)
    expect((await fetch(live)).status).toBe(401)
    for (let i = 0; i <= MAX_STREAMS; i++) {
      const head = await fetch(live, { method: 'HEAD', headers: signIn() })
      expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    }
  })
})

const COMPRESSION = 'test/hosts/node_modules/next/dist/compiled/compression/index.js'

const missing = existsSync(COMPRESSION) ? '' : ' (skipped: next is not installed in test/hosts)'

test.skipIf(missing !== '')(`sends events without delay through compressing middleware${missing}`, async () => {
  const compression = createRequire(import.meta.url)(`../../../${COMPRESSION}`) as (options: object) => RequestListener
  const { tracker, live } = await serve((tracker) =>
    createServer(
      express()
        .use(compression({ threshold: 0 }) as never)
        .use(dashboard(tracker)) as RequestListener,
    ),
  )
  const stream = await follow(live, { 'accept-encoding': 'gzip' })
  expect(stream.headers['content-encoding']).toBeUndefined()
  expect(await stream.next()).toContain('event: changed')
  await tracker.Commands.LogError.call({ error_type: 'E', message: 'm' })
  expect(await stream.next()).toContain('event: changed')
})

describeEachDatabase('writes of another process', (database) => {
  test('writes of another process cause a live event, including repeats and actions', async () => {
    const storage = await freshStorage(database)
    const viewer = trackerAt(storage, {})
    const other = trackerAt({ ...storage, spool_path: temporaryFolder() }, {})
    // Batch markers contain the time.
    viewer.clock.now = other.clock.now = null
    const { live } = await serve(HOSTS.Express as never, viewer.tracker)
    const error = { error_type: 'E', message: 'm' }
    const logged = await other.tracker.Commands.LogError.call(error)
    const stream = await follow(live, passwordOf(viewer.tracker))
    await stream.next()
    await other.tracker.Commands.LogError.call(error)
    expect(await stream.next()).toContain('event: changed')
    await other.tracker.Commands.ResolveError.call({ error_id: logged?.id ?? 0 })
    expect(await stream.next()).toContain('event: changed')
  })
})

describeEachDatabase(
  'the stream of changes during a database outage',
  (database) => {
    test('keeps streams open, logs nothing more and sends changes after recovery', async () => {
      const storage = await freshStorage(database)
      const proxy = await startProxy(storage.url)
      const viewer = trackerAt({ url: proxy.url, spool_path: temporaryFolder() })
      const other = trackerAt(storage)
      other.clock.now = null
      const { live } = await serve(HOSTS.Express as never, viewer.tracker)
      const stream = await follow(live, passwordOf(viewer.tracker))
      await stream.next()
      await viewer.tracker.ready()
      const error = { error_type: 'E', message: 'm' }
      // The first result of the database is the initial state, not a change.
      const nextEvent = stream.next()
      let hasEvent = false
      void nextEvent.then(() => {
        hasEvent = true
      })
      while (!hasEvent) {
        await other.tracker.Commands.LogError.call(error)
        await Promise.race([nextEvent, new Promise((resume) => setTimeout(resume, 1000))])
      }
      await proxy.refuse()
      await other.tracker.Commands.LogError.call(error)
      await new Promise((resume) => setTimeout(resume, 4000))
      expect([stream.waiting(), viewer.lines]).toEqual([0, []])
      await proxy.open()
      expect(await stream.next()).toContain('event: changed')
    })
  },
  { except: ['sqlite'] },
)

async function serve(build: (tracker: TrackerInstance) => Promise<Server> | Server, tracker = testTracker()) {
  const server = await build(tracker)
  const origin = await startListening(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { tracker, server, live: `${origin}/error_dashboard/errors/live` }
}

function passwordOf({ config }: TrackerInstance): { authorization: string } {
  return signIn(config.dashboard_username ?? '', config.dashboard_password ?? '')
}
