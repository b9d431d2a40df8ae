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
import { firstRecordedError, occurrencesByMessage, serveHost, testTracker } from './served.js'

const bodyParser = createRequire(import.meta.url)('koa-bodyparser') as () => Koa.Middleware

describeAdapter({
  name: 'Koa',
  createHost: (tracker, variant) => createHost(tracker, variant).callback(),
  readHeader: (ctx: Koa.Context, name) => ctx.get(name),
})

function createHost(tracker: TrackerInstance | null, variant: Variant): Koa {
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
  if (variant !== 'default_handler') app.use(variant === 'failing_handler' ? failingHandler : respondWithError)
  if (tracker && variant === 'prefix') {
    const router = new Router({ prefix: '/admin' }).all('/error_dashboard{/*below}', faultboard(tracker))
    app.use(router.routes())
  } else if (tracker) app.use(faultboard(tracker))
  app.use(async (ctx, next) => {
    ctx.state.user = { id: 7 }
    if (ctx.path === '/middleware') throw new Error('broken')
    await next()
  })
  app.use(createRouter().routes())
  return app
}

function createRouter(): Router {
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

const respondWithError: Koa.Middleware = async (ctx, next) => {
  try {
    await next()
  } catch (error) {
    ctx.status = 503
    ctx.body = `host error: ${error instanceof Error ? error.message : error}`
  }
}

const failingHandler: Koa.Middleware = async (_ctx, next) => {
  try {
    await next()
  } catch {
    throw new Error('the error handler failed')
  }
}

describe('faultboard() for Koa', () => {
  test('counts each error once if registered before and after the error middleware of the host', async () => {
    const tracker = testTracker()
    const app = new Koa().use(faultboard(tracker)).use(respondWithError).use(faultboard(tracker))
    app.use((ctx) => (ctx.path === '/missing' ? ctx.throw(404) : Promise.reject(new Error('broken'))))
    const get = await serveHost(app.callback())
    expect(await (await get('/')).text()).toBe('host error: broken')
    await get('/missing')
    expect(await occurrencesByMessage(tracker)).toEqual({ broken: 1 })
    expect((await tracker.stats()).dropped).toEqual({ client_error: 1 })
  })

  test('adds no error listener, which would disable the error log of Koa', async () => {
    const app = new Koa().use(faultboard(testTracker()))
    app.callback()
    expect(app.listeners('error')).toEqual([app.onerror])
  })

  test('grades a missing file as medium, because Koa responds with 500', async () => {
    const tracker = testTracker()
    const app = new Koa()
    app.silent = true
    app.use(faultboard(tracker)).use(() => {
      throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
    })
    expect((await (await serveHost(app.callback()))('/')).status).toBe(500)
    expect(await firstRecordedError(tracker)).toMatchObject({ message: 'no such file', severity: 'medium' })
  })

  test('serves the dashboard below a prefix removed by another middleware', async () => {
    const tracker = testTracker()
    const app = new Koa()
    app.use(async (ctx, next) => {
      const { path } = ctx
      if (!path.startsWith('/admin')) return next()
      ctx.path = path.slice('/admin'.length)
      await next()
      ctx.path = path
      return undefined
    })
    const get = await serveHost(app.use(faultboard(tracker)).callback())
    expect((await get('/admin/error_dashboard?x=1')).headers.get('location')).toBe('/admin/error_dashboard/overview')
    expect(await (await get('/admin/error_dashboard/overview')).text()).toContain(
      'href="/admin/error_dashboard/settings"',
    )
    expect((await get('/error_dashboard')).headers.get('location')).toBe('/error_dashboard/overview')
  })

  test('uses the client address of the host', async () => {
    const tracker = testTracker()
    const app = new Koa({ proxy: true })
    app.silent = true
    app.use(faultboard(tracker)).use(() => Promise.reject(new Error('broken')))
    await (await serveHost(app.callback()))('/', { headers: { 'x-forwarded-for': '203.0.113.7' } })
    expect(await firstRecordedError(tracker)).toMatchObject({ ip_address: '203.0.113.7', request: { method: 'GET' } })
  })

  test('does not record a client that disconnects during a response', async () => {
    const tracker = testTracker()
    const consoleError = vi.spyOn(console, 'error').mockImplementation(() => {})
    const app = new Koa().use(faultboard(tracker)).use((ctx) => {
      ctx.body = endlessStream()
    })
    const get = await serveHost(app.callback())
    const abortController = new AbortController()
    const response = await get('/', { signal: abortController.signal })
    await response.body?.getReader().read()
    abortController.abort()
    await eventually(async () => 'client_gone' in (await tracker.stats()).dropped, 'the disconnect is counted')
    expect(await occurrencesByMessage(tracker)).toEqual({})
    consoleError.mockRestore()
  })
})

function endlessStream(): Readable {
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
