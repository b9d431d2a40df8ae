import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Host, startHost } from '../../../support/host.js'

describe('the detail page shows what was captured with the newest occurrence', () => {
  let host: Host
  let id: number

  beforeAll(async () => {
    host = await startHost('sqlite::memory:', { enable_breadcrumbs: true, environment: 'staging', time_zone: 'UTC' })
    const { tracker } = host
    const root = Object.assign(new Error('no route to host'), { code: 'EHOSTUNREACH' })
    const exception = new AggregateError([new TypeError('first of two')], 'all carriers failed', { cause: root })
    const [first = '', ...own] = exception.stack?.split('\n') ?? []
    exception.stack = [first, ...own, `    at next (${process.cwd()}/node_modules/express/lib/router.js:1:2)`].join(
      '\n',
    )
    await tracker.withScope(async () => {
      tracker.setTags({ region: 'eu-west' })
      tracker.setContext({ order: { id: 12 }, step: 'payment' })
      tracker.addBreadcrumb({ category: 'cart', message: 'item added', duration_ms: 12.5, metadata: { sku: 'B-7' } })
      const logged = await tracker.report(exception, {
        user_id: 'eve',
        request_url: 'https://shop.example/pay',
        request: { method: 'POST', route: '/pay', headers: { accept: 'text/html' }, duration_ms: 31 },
        user_agent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15',
      })
      id = logged?.id ?? 0
    })
  })
  afterAll(() => host.close())

  test.each([
    ['the breadcrumbs', /<time datetime="[^"]+"[^>]*>\d\d:\d\d:\d\d\.\d{3}<\/time>\s*<span class="badge">cart<\/span>/],
    ['their text, data and duration', /item added.*sku: B-7.*12\.5 ms/s],
    ['the error at the end of them', /class="crumb end".*AggregateError<\/strong> all carriers failed/s],
    ['the request', /POST https:\/\/shop\.example\/pay/],
    ['its route and duration', /<dd[^>]*>\/pay<\/dd>.*<dd[^>]*>31 ms<\/dd>/s],
    ['its headers', /<dt>accept<\/dt>\s*<dd[^>]*>text\/html<\/dd>/],
    ['the platform', /<dt>Platform<\/dt>\s*<dd[^>]*><a href="[^"]*platform=iOS">iOS<\/a>/],
    ['the process', /<h3 id="process-title">Process<.*<dt>Host<\/dt>.*<dt>Process ID<\/dt>.*<dt>Node\.js<\/dt>/s],
    [
      'the tags',
      /<dt><bdi>region<\/bdi><\/dt>\s*<dd><a href="[^"]*tag=region%3Aeu-west" title="eu-west"><bdi>eu-west<\/bdi>/,
    ],
    ['the context', /<dt>step<\/dt>\s*<dd[^>]*>payment<\/dd>/],
    ['the environment', /<p class="error-meta">.*<bdi>staging<\/bdi>/s],
    ['the cause with its code', /Caused by<\/span>\s*<bdi>Error<\/bdi>\s*<code[^>]*>EHOSTUNREACH/],
    ['the aggregated errors', /Aggregated<\/span>\s*<bdi>TypeError<\/bdi>/],
    ['frames of libraries folded', /<details class="part library">\s*<summary>\d+ frames? in [^<]*express/],
    [
      'its own frames relative to the project',
      /<span class="file-folder">test\/dashboard\/pages\/error\/<\/span>\s*<span class="file-name">captured-details\.test\.ts:\d+:\d+</,
    ],
    ['the source around them, with the line that failed', /<mark class="line" data-line="\d+">.*AggregateError/],
  ])('%s', async (_, shown) => {
    expect(await (await host.get(`/errors/${id}`)).text()).toMatch(shown)
  })

  test('includes the captured details in the JSON', async () => {
    const { error } = (await host.json(`/errors/${id}`)) as unknown as { error: Record<string, unknown> }
    expect(error).toMatchObject({
      tags: { region: 'eu-west' },
      context: { order: { id: 12 }, step: 'payment' },
      request: { method: 'POST', route: '/pay' },
      breadcrumbs: [{ category: 'cart', message: 'item added', occurred_at: expect.stringMatching(/Z$/) }],
      environment: 'staging',
      details: { source: 'report', process: { pid: process.pid } },
    })
  })
})

test('the health page lists drop reasons with counts and meanings', async () => {
  const host = await startHost('sqlite::memory:', { ignored_exceptions: ['Boring'] })
  for (let i = 0; i < 3; i++) await host.tracker.Commands.LogError.call({ error_type: 'Boring', message: 'm' })
  const page = await (await host.get('/health')).text()
  expect(page).toMatch(/<code>ignored<\/code>.*<td class="number">3<\/td>.*listed in ignored_exceptions/s)
  const { health } = (await host.json('/settings')) as unknown as { health: { dropped: unknown } }
  expect(health.dropped).toMatchObject([{ reason: 'ignored', count: 3 }])
  const { settings } = (await host.json('/settings?filter=not seen for this many days')) as unknown as {
    settings: unknown
  }
  expect(settings).toMatchObject([{ name: 'retention_days' }])
  await host.close()
})

test('shows values that all occurrences share as facts, and different values as shares', async () => {
  const host = await startHost('sqlite::memory:')
  onTestFinished(() => host.close())
  const log = (error_type: string, user_id: string, app_version: string, platform: string) =>
    host.tracker.Commands.LogError.call({
      ...{ error_type, message: 'm', user_id, app_version, platform, source: 'node', unhandled: true },
    })
  const same = await log('SameError', 'eve', '1.0.0', 'Web')
  await log('SameError', 'eve', '1.0.0', 'Web')
  const samePage = await (await host.get(`/errors/${same?.id}`)).text()
  expect(samePage).toMatch(/<dt>User<\/dt>\s*<dd[^>]*><a href="[^"]*user_id=eve">eve</)
  expect(samePage).toMatch(
    /<dt>Captured by<\/dt>\s*<dd[^>]*>Node\.js HTTP server<.*<dt>Unhandled<\/dt>\s*<dd[^>]*>yes</s,
  )
  expect(samePage).not.toMatch(/<h2>(Users|Versions|Platforms)<|<dt>(First version|Version|First seen)</)
  const different = await log('DifferentError', 'eve', '1.0.0', 'Web')
  await log('DifferentError', 'zoe', '1.1.0', 'iOS')
  const differentPage = await (await host.get(`/errors/${different?.id}`)).text()
  expect(differentPage).toMatch(
    /<h2>Users<.*<h2>Versions<.*<h2>Platforms<.*<dt>First version<\/dt>\s*<dd[^>]*>1\.0\.0</s,
  )
  expect(differentPage).not.toMatch(/<dt>User<\/dt>\s*<dd[^>]*><a|<dt>Platform</)
})

test('opens the frame of a cause, unless it is in the function of the error itself', async () => {
  const host = await startHost('sqlite::memory:')
  onTestFinished(() => host.close())
  const rethrown = () => new Error('outer', { cause: new Error('inner') })
  const createCause = () => new Error('inner')
  const elsewhere = () => new Error('outer', { cause: createCause() })
  for (const [create, openFrames] of [
    [rethrown, 1],
    [elsewhere, 2],
  ] as const) {
    const error = await host.tracker.report(create())
    const page = await (await host.get(`/errors/${error?.id}`)).text()
    expect(page.match(/<details class="part own" open/g)).toHaveLength(openFrames)
  }
})

test.each([
  [4, false],
  [12, true],
])('shows whether causes may be missing: %i nested causes', async (count, isNoted) => {
  const host = await startHost('sqlite::memory:')
  onTestFinished(() => host.close())
  let error = new Error('root')
  for (let i = 0; i < count; i++) error = new Error(`wrapper ${i}`, { cause: error })
  const { id } = (await host.tracker.report(error)) ?? {}
  const page = await (await host.get(`/errors/${id}`)).text()
  // Not in the source line of this test.
  expect(/stack-note">\s*At most 5 nested/.test(page)).toBe(isNoted)
})

test('states that details are missing because the event loop was lagging', async () => {
  const host = await startHost('sqlite::memory:', { max_event_loop_lag_ms: 200 })
  onTestFinished(() => host.close())
  const record = () => host.tracker.report(new Error('late'), { context: { size: 1 } })
  const before = record()
  for (const until = performance.now() + 400; performance.now() < until; );
  const late = await record()
  await before
  const page = await (await host.get(`/errors/${late?.id}`)).text()
  expect(page).toContain('Recorded without parameters, context and breadcrumbs: the event loop was lagging.')
  expect(await host.json(`/errors/${late?.id}`)).toMatchObject({
    error: { details: { details_omitted: 'event_loop_lag' } },
  })
})
