import { H3, type H3Config, HTTPError } from 'h3'
import { toNodeHandler } from 'h3/node'
import { describe, expect, test } from 'vitest'
import { faultboard } from '../../src/adapters/h3.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { compress, describeAdapter, failingStream, HOST_HEADERS, ROUTES, type Variant } from '../contract/adapter.js'
import { signIn } from '../support/host.js'
import { countsOf, FORM, firstRecorded, ownTracker } from './served.js'

describeAdapter({
  name: 'h3',
  host: (tracker, variant) => toNodeHandler(host(tracker, variant)) as never,
  lacks: { parser: 'h3 gives a body to whoever reads it first, and keeps none' },
})

function host(tracker: TrackerInstance | null, variant: Variant): H3 {
  const app = new H3(configuration(variant))
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

function configuration(variant: Variant): H3Config {
  if (variant === 'default_handler') return {}
  return {
    onError(error) {
      if (variant === 'failing_handler') throw new Error('the handler is broken')
      return new Response(`host says: ${error.message}`, { status: 503 })
    },
  }
}

describe('faultboard() for h3', () => {
  test('needs no Node.js server: the dashboard and the record work with nothing but a Request', async () => {
    const tracker = ownTracker()
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
    expect(await firstRecorded(tracker)).toMatchObject({
      message: 'broken',
      request_params: { query: { page: '2' }, params: { id: '8' } },
      request: { method: 'GET', route: '/orders/:id', duration_ms: expect.any(Number) },
    })
  })

  test('a number that is thrown is a status: one for the client is counted', async () => {
    const tracker = ownTracker()
    const app = new H3({ silent: true }).register(faultboard(tracker))
    app.get('/gone', () => {
      throw 410
    })
    expect((await app.request('/gone')).status).toBe(410)
    expect((await app.request('/nowhere')).status).toBe(404)
    expect(await countsOf(tracker)).toEqual({})
    expect((await tracker.stats()).dropped).toEqual({ client_error: 1 })
  })

  test('a value that cannot be sent is recorded where the host has an error handler', async () => {
    const tracker = ownTracker()
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const app = new H3({ silent: true, onError: () => 'host says no', plugins: [faultboard(tracker)] })
    app.get('/circle', () => circle)
    expect(await (await app.request('/circle')).text()).toBe('host says no')
    expect(await firstRecorded(tracker)).toMatchObject({ error_type: 'TypeError', occurrence_count: 1 })
  })

  test('a host without an error handler gets none', () => {
    const app = new H3().register(faultboard(ownTracker()))
    expect(app.config.onError).toBeUndefined()
  })
})
