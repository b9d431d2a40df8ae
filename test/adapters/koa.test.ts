import { createRequire } from 'node:module'
import { Readable } from 'node:stream'
import Router from '@koa/router'
import Koa from 'koa'
import { describe, expect, test, vi } from 'vitest'
import { faultboard } from '../../src/adapters/koa.js'
import type { TrackerInstance } from '../../src/tracker.js'
import {
  compress,
  describeAdapter,
  failingStream,
  HOST_HEADERS,
  ROUTES,
  sendResult,
  type Variant,
} from '../contract/adapter.js'
import { eventually } from '../support/tracker.js'
import { countsOf, firstRecorded, ownTracker, served } from './served.js'

const bodyParser = createRequire(import.meta.url)('koa-bodyparser') as () => Koa.Middleware

describeAdapter({
  name: 'Koa',
  host: (tracker, variant) => host(tracker, variant).callback(),
})

function host(tracker: TrackerInstance | null, variant: Variant): Koa {
  const app = new Koa()
  if (variant === 'parser') app.use(bodyParser())
  if (variant === 'headers') {
    app.use(async (ctx, next) => {
      ctx.set(HOST_HEADERS)
      await next()
      ctx.set(HOST_HEADERS)
    })
  }
  if (variant === 'wrapped') {
    app.use(async (ctx, next) => {
      compress(ctx.res)
      await next()
    })
  }
  if (variant !== 'default_handler') app.use(variant === 'failing_handler' ? failing : answering)
  if (tracker && variant === 'prefix') {
    const router = new Router({ prefix: '/admin' }).all('/error_dashboard{/*below}', faultboard(tracker))
    app.use(router.routes())
  } else if (tracker) app.use(faultboard(tracker))
  app.use(async (ctx, next) => {
    ctx.state.user = { id: 7 }
    if (ctx.path === '/middleware') throw new Error('broken')
    await next()
  })
  app.use(routes().routes())
  return app
}

function routes(): Router {
  const router = new Router()
  router.get('/middleware', () => {})
  router.get('/passed', (ctx) => ctx.throw(500, 'broken'))
  router.get('/stream', (ctx) => {
    ctx.body = failingStream()
  })
  for (const [path, run] of Object.entries(ROUTES)) {
    router.get(path, (ctx) =>
      sendResult(run(), (text) => {
        ctx.body = text
      }),
    )
  }
  return router
}

const answering: Koa.Middleware = async (ctx, next) => {
  try {
    await next()
  } catch (error) {
    ctx.status = 503
    ctx.body = `host says: ${error instanceof Error ? error.message : error}`
  }
}

const failing: Koa.Middleware = async (_ctx, next) => {
  try {
    await next()
  } catch {
    throw new Error('the handler is broken')
  }
}

describe('faultboard() for Koa', () => {
  test('may stand first and behind the host’s error middleware: each error counts once', async () => {
    const tracker = ownTracker()
    const app = new Koa().use(faultboard(tracker)).use(answering).use(faultboard(tracker))
    app.use((ctx) => (ctx.path === '/missing' ? ctx.throw(404) : Promise.reject(new Error('broken'))))
    const get = await served(app.callback())
    expect(await (await get('/')).text()).toBe('host says: broken')
    await get('/missing')
    expect(await countsOf(tracker)).toEqual({ broken: 1 })
    expect((await tracker.stats()).dropped).toEqual({ client_error: 1 })
  })

  test('adds no listener for the errors of the application, which would keep Koa from logging them', async () => {
    const app = new Koa().use(faultboard(ownTracker()))
    app.callback()
    expect(app.listeners('error')).toEqual([app.onerror])
  })

  test('grades a missing file as medium, because Koa responds with 500', async () => {
    const tracker = ownTracker()
    const app = new Koa()
    app.silent = true
    app.use(faultboard(tracker)).use(() => {
      throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
    })
    expect((await (await served(app.callback()))('/')).status).toBe(500)
    expect(await firstRecorded(tracker)).toMatchObject({ message: 'no such file', severity: 'medium' })
  })

  test('stands below a path that another middleware has taken off', async () => {
    const tracker = ownTracker()
    const app = new Koa()
    app.use(async (ctx, next) => {
      const { path } = ctx
      if (!path.startsWith('/admin')) return next()
      ctx.path = path.slice('/admin'.length)
      await next()
      ctx.path = path
      return undefined
    })
    const get = await served(app.use(faultboard(tracker)).callback())
    expect((await get('/admin/error_dashboard?x=1')).headers.get('location')).toBe('/admin/error_dashboard/overview')
    expect(await (await get('/admin/error_dashboard/overview')).text()).toContain(
      'href="/admin/error_dashboard/settings"',
    )
    expect((await get('/error_dashboard')).headers.get('location')).toBe('/error_dashboard/overview')
  })

  test('uses the client address of the host', async () => {
    const tracker = ownTracker()
    const app = new Koa({ proxy: true })
    app.silent = true
    app.use(faultboard(tracker)).use(() => Promise.reject(new Error('broken')))
    await (await served(app.callback()))('/', { headers: { 'x-forwarded-for': '203.0.113.7' } })
    expect(await firstRecorded(tracker)).toMatchObject({ ip_address: '203.0.113.7', request: { method: 'GET' } })
  })

  test('does not record a client that disconnects during a response', async () => {
    const tracker = ownTracker()
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const app = new Koa().use(faultboard(tracker)).use((ctx) => {
      ctx.body = endless()
    })
    const get = await served(app.callback())
    const leaving = new AbortController()
    const response = await get('/', { signal: leaving.signal })
    await response.body?.getReader().read()
    leaving.abort()
    await eventually(async () => 'client_gone' in (await tracker.stats()).dropped, 'the client was missed')
    expect(await countsOf(tracker)).toEqual({})
    log.mockRestore()
  })
})

function endless(): Readable {
  return Readable.from(
    (async function* () {
      for (;;) {
        yield 'more '
        await new Promise((resume) => setTimeout(resume, 5))
      }
    })(),
    { objectMode: false },
  )
}
