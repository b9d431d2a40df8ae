import { H3, type H3Config, type H3Event, HTTPError } from 'h3'
import { toNodeHandler } from 'h3/node'
import { describe, expect, test } from 'vitest'
import { faultboard } from '../../src/adapters/h3.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { compress, describeAdapter, failingStream, HOST_HEADERS, ROUTES, type Variant } from '../contract/adapter.js'
import { signIn } from '../support/host.js'
import { FORM, firstRecordedError, occurrencesByMessage, testTracker } from './served.js'

describeAdapter({
  name: 'h3',
  createHost: (tracker, variant) => toNodeHandler(createHost(tracker, variant)) as never,
  readHeader: (event: H3Event, name) => event.req.headers.get(name),
  unsupportedVariants: { parser: 'h3 does not buffer a body that was read' },
})

function createHost(tracker: TrackerInstance | null, variant: Variant): H3 {
  const app = new H3(h3Config(variant))
  if (variant === 'headers') {
    app.use((event) => {
      for (const [name, value] of Object.entries(HOST_HEADERS)) event.res.headers.set(name, value)
    })
  }
  if (variant === 'wrapped') app.use((event) => compress(event.runtime?.node?.res as never))
  if (tracker && variant === 'prefix') app.mount('/admin', new H3().register(faultboard(tracker)))
  else if (tracker) app.register(faultboard(tracker))
  app.use((event) => {
    event.context.user = { id: 7 }
    if (event.url.pathname === '/middleware') throw new Error('broken')
  })
  app.get('/middleware', () => 'ok')
  app.get('/passed', () => new HTTPError({ status: 500, message: 'broken' }))
  app.get('/stream', () => failingStream())
  for (const [path, run] of Object.entries(ROUTES)) app.get(path, run)
  return app
}

function h3Config(variant: Variant): H3Config {
  if (variant === 'default_handler') return {}
  return {
    onError(error) {
      if (variant === 'failing_handler') throw new Error('the error handler failed')
      return new Response(`host error: ${error.message}`, { status: 503 })
    },
  }
}

describe('faultboard() for h3', () => {
  test('serves the dashboard and records errors without a Node.js server', async () => {
    const tracker = testTracker()
    const app = new H3({ silent: true, plugins: [faultboard(tracker)] }).get('/orders/:id', () => {
      throw new Error('broken')
    })
    const page = await app.request('/error_dashboard/overview', { headers: signIn() })
    expect(await page.text()).toContain('href="/error_dashboard/settings"')
    const logged = await tracker.Commands.LogError.call({ error_type: 'E', message: 'm' })
    const form = { method: 'POST', headers: { ...signIn(), ...FORM }, body: 'assigned_to=eve%40example.org' }
    expect((await app.request(`/error_dashboard/errors/${logged?.id}/assign`, form)).status).toBe(302)
    await tracker.Commands.BatchDeleteErrors.call({ error_ids: [logged?.id ?? 0] })
    expect((await app.request('/orders/8?page=2')).status).toBe(500)
    expect(await firstRecordedError(tracker)).toMatchObject({
      message: 'broken',
      request_params: { query: { page: '2' }, params: { id: '8' } },
      request: { method: 'GET', route: '/orders/:id', duration_ms: expect.any(Number) },
    })
  })

  test('treats a thrown number as a status and counts client errors', async () => {
    const tracker = testTracker()
    const app = new H3({ silent: true }).register(faultboard(tracker))
    app.get('/gone', () => {
      throw 410
    })
    expect((await app.request('/gone')).status).toBe(410)
    expect((await app.request('/nowhere')).status).toBe(404)
    expect(await occurrencesByMessage(tracker)).toEqual({})
    expect((await tracker.stats()).dropped).toEqual({ client_error: 1 })
  })

  test('records a response value that cannot be serialized if the host has an error handler', async () => {
    const tracker = testTracker()
    const circular: Record<string, unknown> = {}
    circular.self = circular
    const app = new H3({ silent: true, onError: () => 'host error', plugins: [faultboard(tracker)] })
    app.get('/circular', () => circular)
    expect(await (await app.request('/circular')).text()).toBe('host error')
    expect(await firstRecordedError(tracker)).toMatchObject({ error_type: 'TypeError', occurrence_count: 1 })
  })

  test('does not add an error handler to a host without one', () => {
    const app = new H3().register(faultboard(testTracker()))
    expect(app.config.onError).toBeUndefined()
  })
})
