import { once } from 'node:events'
import { connect } from 'node:http2'
import Fastify, { type FastifyInstance } from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { faultboard } from '../../src/adapters/fastify.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { compress, describeAdapter, failingStream, HOST_HEADERS, ROUTES, type Variant } from '../contract/adapter.js'
import { signIn } from '../support/host.js'
import { firstRecordedError, occurrencesByMessage, serveHost, testTracker } from './served.js'

describeAdapter({
  name: 'Fastify',
  async createHost(tracker, variant) {
    const app = createHost(tracker, variant)
    await app.ready()
    return { listener: (request, response) => app.routing(request, response), close: () => app.close() }
  },
  unsupportedVariants: { parser: 'Fastify parses a body after the onRequest hooks' },
})

function createHost(tracker: TrackerInstance | null, variant: Variant): FastifyInstance {
  const app = Fastify()
  app.decorateRequest('user', null)
  if (variant === 'headers') {
    app.addHook('onRequest', async (_request, reply) => void reply.headers(HOST_HEADERS))
    app.addHook('onSend', async (_request, reply) => void reply.headers(HOST_HEADERS))
  }
  if (variant === 'wrapped') app.addHook('onRequest', async (_request, reply) => compress(reply.raw))
  if (tracker && variant === 'prefix') {
    app.register(async (admin) => void admin.register(faultboard, { tracker }), { prefix: '/admin' })
  } else if (tracker) app.register(faultboard, { tracker })
  if (variant === 'failing_handler') {
    app.setErrorHandler(() => {
      throw new Error('the error handler failed')
    })
  } else if (variant !== 'default_handler') {
    app.setErrorHandler((error, _request, reply) => {
      reply.status(503).send(`host error: ${error instanceof Error ? error.message : error}`)
    })
  }
  app.addHook('preHandler', async (request) => {
    Object.assign(request, { user: { id: 7 } })
    if (request.url === '/middleware') throw new Error('broken')
  })
  app.get('/middleware', () => 'ok')
  app.get('/passed', (_request, reply) => void reply.send(new Error('broken')))
  app.get('/stream', (_request, reply) => reply.send(failingStream()))
  for (const [path, run] of Object.entries(ROUTES)) app.get(path, run)
  return app
}

describe('faultboard() for Fastify', () => {
  test('serves the dashboard in a plugin without a prefix, as in an application of fastify-cli', async () => {
    const tracker = testTracker()
    const app = Fastify()
    app.register(async (inner) => {
      inner.register(faultboard, { tracker })
      inner.get('/', async () => {
        throw new Error('broken')
      })
    })
    const get = await serveApp(app)
    expect((await get('/')).status).toBe(500)
    expect(await occurrencesByMessage(tracker)).toEqual({ broken: 1 })
    expect((await get('/error_dashboard/errors')).status).toBe(200)
    expect((await get('/error_dashboard')).status).toBe(302)
    expect((await get('/elsewhere')).status).toBe(404)
  })

  test('counts a schema violation as a client error', async () => {
    const tracker = testTracker()
    const app = Fastify().register(faultboard, { tracker })
    const schema = { querystring: { type: 'object', required: ['page'], properties: { page: { type: 'integer' } } } }
    app.get('/', { schema }, () => 'ok')
    const get = await serveApp(app)
    expect((await get('/')).status).toBe(400)
    expect(await occurrencesByMessage(tracker)).toEqual({})
    expect((await tracker.stats()).dropped).toEqual({ client_error: 1 })
  })

  test.each([
    ['the handler set 404', 404, {}, 404, 'low'],
    ['the error requests 503 after the handler set 404', 404, { statusCode: 503 }, 503, 'medium'],
    ['the handler set 502', 502, {}, 502, 'medium'],
  ])('grades an error by the status of its response if %s', async (_, code, properties, status, severity) => {
    const tracker = testTracker()
    const app = Fastify().register(faultboard, { tracker })
    app.get('/', async (_request, reply) => {
      reply.code(code)
      throw Object.assign(new Error('broken'), properties)
    })
    expect((await (await serveApp(app))('/')).status).toBe(status)
    expect(await firstRecordedError(tracker)).toMatchObject({ message: 'broken', severity })
  })

  test('records an error whose status cannot be read', async () => {
    const tracker = testTracker()
    const app = Fastify().register(faultboard, { tracker })
    app.setErrorHandler((_error, _request, reply) => void reply.code(500).send('host'))
    app.get('/', async () => {
      throw Object.defineProperty(new Error('broken'), 'statusCode', {
        get() {
          throw new Error('unreadable')
        },
      })
    })
    expect(await (await (await serveApp(app))('/')).text()).toBe('host')
    expect(await occurrencesByMessage(tracker)).toEqual({ broken: 1 })
  })

  test('captures errors in plugin routes and serves the dashboard below its prefix', async () => {
    const tracker = testTracker()
    const app = Fastify().register(faultboard, { tracker, prefix: '/admin' })
    app.register(async (inner) => inner.get('/:id', () => Promise.reject(new Error('broken'))), { prefix: '/orders' })
    const get = await serveApp(app)
    expect((await get('/admin/error_dashboard')).headers.get('location')).toBe('/admin/error_dashboard/overview')
    expect((await get('/error_dashboard')).status).toBe(404)
    await get('/orders/8')
    expect(await firstRecordedError(tracker)).toMatchObject({ message: 'broken', request: { route: '/orders/:id' } })
  })

  test('serves the dashboard below a prefix removed by rewriteUrl', async () => {
    const rewriteUrl = ({ url = '/' }) => url.replace(/^\/app(?=\/)/, '')
    const app = Fastify({ rewriteUrl }).register(faultboard, { tracker: testTracker() })
    const get = await serveApp(app)
    expect((await get('/app/error_dashboard')).headers.get('location')).toBe('/app/error_dashboard/overview')
    expect((await get('/error_dashboard')).headers.get('location')).toBe('/error_dashboard/overview')
  })

  test('serves the dashboard in an encapsulated context, but not at encoded spellings of its path', async () => {
    const tracker = testTracker()
    const app = Fastify()
    app.register(async (admin) => void admin.register(faultboard, { tracker }), { prefix: '/admin' })
    const get = await serveApp(app)
    expect((await get('/admin/error_dashboard/overview')).status).toBe(200)
    expect((await get('/admin/%65rror_dashboard/overview')).status).toBe(404)
  })

  test('does not change the log of the host', async () => {
    const baseline = await readLog(Fastify)
    expect(await readLog((options) => Fastify(options).register(faultboard, { tracker: testTracker() }))).toEqual(
      baseline,
    )
    expect(baseline.join()).toContain('broken')
  })

  test('works over HTTP/2 without warnings', async () => {
    const tracker = testTracker()
    const warnings: string[] = []
    const listener = (warning: Error) => void warnings.push(warning.message)
    process.on('warning', listener)
    const app = Fastify({ http2: true })
    app.register(faultboard, { tracker })
    app.get('/', () => Promise.reject(new Error('broken')))
    const client = connect(await app.listen({ port: 0, host: '127.0.0.1' }))
    onTestFinished(async () => {
      process.off('warning', listener)
      client.destroy()
      await app.close()
    })
    const requestStatus = async (path: string) => {
      const [headers] = await once(client.request({ ':path': path, ...signIn() }), 'response')
      return headers[':status']
    }
    expect(await requestStatus('/error_dashboard/overview')).toBe(200)
    expect(await requestStatus('/')).toBe(500)
    expect(await occurrencesByMessage(tracker)).toEqual({ broken: 1 })
    expect(warnings.filter((text) => text.includes('connection'))).toEqual([])
  })

  test('records one error if the error handler wraps and rethrows it', async () => {
    const tracker = testTracker()
    const app = Fastify().register(faultboard, { tracker })
    app.setErrorHandler((cause) => {
      throw new Error('wrapped', { cause })
    })
    app.get('/', () => Promise.reject(new Error('broken')))
    expect(await (await (await serveApp(app))('/')).json()).toMatchObject({ message: 'wrapped' })
    expect(await occurrencesByMessage(tracker)).toEqual({ broken: 1 })
  })
})

async function serveApp(app: FastifyInstance) {
  await app.ready()
  onTestFinished(() => app.close())
  return serveHost((request, response) => app.routing(request, response))
}

/** Level, message, error and status of each log entry of a failing request. */
async function readLog(build: (options: { logger: object }) => FastifyInstance): Promise<string[]> {
  const lines: string[] = []
  const app = build({ logger: { stream: { write: (line: string) => void lines.push(line) } } })
  app.get('/', () => Promise.reject(new Error('broken')))
  await (await serveApp(app))('/')
  return lines.map((line) => {
    const { level, msg, err, res } = JSON.parse(line)
    return JSON.stringify({ level, msg, error: err?.message, status: res?.statusCode })
  })
}
