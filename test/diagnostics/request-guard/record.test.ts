import { channel } from 'node:diagnostics_channel'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { RequestGuardEvent } from '../../../src/index.js'
import { HOUR } from '../../../src/model/time.js'
import type { Settings } from '../../../src/options.js'
import { describeEachDatabase, type TestDatabase } from '../../support/databases.js'
import { freshTracker, withDatabase } from '../../support/tracker.js'

const ON: Settings = { enable_request_guard_tracking: true, enable_breadcrumbs: true }

async function guarded(database: TestDatabase, settings: Settings = {}) {
  const { tracker, url, clock, lines } = await freshTracker(database, { ...ON, ...settings })
  return {
    tracker,
    clock,
    lines,
    record: (event: unknown) => tracker.requestGuard.record(event as RequestGuardEvent),
    async rows() {
      await tracker.flush()
      return withDatabase(url, ({ read }) => read.selectFrom('faultboard_request_guard_hours').selectAll().execute())
    },
  }
}

describeEachDatabase(
  'a request-guard event',
  (database) => {
    test('reads address and path from the request of any framework', async () => {
      const { record, rows } = await guarded(database, { trusted_proxies: ['loopback'] })
      const socket = { remoteAddress: '::ffff:127.0.0.1' }
      const headers = { 'x-forwarded-for': '6.6.6.6, 198.51.100.1' }
      const node = { socket, headers, url: '/a/1?x=1', method: 'GET' }
      const requests: Record<string, object> = {
        node,
        express: { ...node, ip: '203.0.113.1', baseUrl: '/api', route: { path: '/b/:id' }, originalUrl: '/api/b/1' },
        fastify: { raw: node, ip: socket.remoteAddress, socket, headers, url: '/c/1', routeOptions: { url: '/c/:id' } },
        koa: { req: node, ip: socket.remoteAddress, socket, headers, originalUrl: '/d/1', _matchedRoute: '/d/:name' },
        hono: { req: { raw: new Request('http://host/e/12345'), url: 'http://host/e/12345' }, env: { incoming: node } },
        web: new Request('https://host/f/8?x=1'),
      }
      for (const [rule, request] of Object.entries(requests)) record({ kind: 'throttle', rule, request })
      const found = Object.fromEntries((await rows()).map(({ rule, ip_address, path }) => [rule, [ip_address, path]]))
      expect(found).toEqual({
        node: ['198.51.100.1', '/a/:id'],
        express: ['203.0.113.1', '/api/b/:id'],
        fastify: ['198.51.100.1', '/c/:id'],
        koa: ['198.51.100.1', '/d/:name'],
        hono: ['198.51.100.1', '/e/:id'],
        web: ['', '/f/:id'],
      })
    })

    test('uses the current request by default', async () => {
      const { tracker, rows } = await guarded(database)
      const server = createServer((_request, response) => {
        tracker.requestGuard.record({ kind: 'blocklist', rule: 'scrapers' })
        response.end()
      }).listen(0, '127.0.0.1')
      onTestFinished(() => void server.close())
      await new Promise((done) => server.once('listening', done))
      const { port } = server.address() as AddressInfo
      await new Promise((done) => httpRequest({ port, path: '/x/77?q=secret', agent: false }, done).end())
      expect(await rows()).toMatchObject([{ kind: 'blocklist', ip_address: '127.0.0.1', path: '/x/:id', count: 1 }])
    })

    test('prefers a valid address of the event to that of the request', async () => {
      const { record, rows } = await guarded(database)
      record({ kind: 'track', rule: 'a', ip_address: '2001:db8::1', path: '/given?x=1' })
      record({ kind: 'track', rule: 'b', ip_address: '<script>' })
      expect(await rows()).toMatchObject([
        { rule: 'a', ip_address: '2001:db8::1', path: '/given' },
        { rule: 'b', ip_address: '', path: '' },
      ])
    })

    test('a request-guard event is received through the diagnostics channel', async () => {
      const { rows, tracker } = await guarded(database)
      channel('faultboard:request-guard').publish({ kind: 'throttle', rule: 'by channel', ip_address: '192.0.2.1' })
      expect(await rows()).toMatchObject([{ rule: 'by channel', ip_address: '192.0.2.1', count: 1 }])
      await tracker.shutdown()
      expect(channel('faultboard:request-guard').hasSubscribers).toBe(false)
    })

    test('does not throw for an invalid event', async () => {
      const { record, rows, tracker } = await guarded(database)
      const thrower = new Proxy(
        {},
        {
          get() {
            throw new Error('no')
          },
          has() {
            throw new Error('no')
          },
        },
      )
      const evil = {
        get socket() {
          throw new Error('no')
        },
      }
      for (const event of [undefined, null, 7, 'throttle', {}, { kind: 'other' }, thrower, () => {}]) record(event)
      record({ kind: 'throttle', rule: Symbol('x'), request: thrower, path: 12 })
      record({ kind: 'throttle', rule: 'evil request', request: evil })
      record({ kind: 'throttle', rule: `<script>\0\ud800${'x'.repeat(100_000)}`, path: `/${'y'.repeat(10_000)}` })
      expect((await rows()).map(({ rule, path, count }) => [rule.slice(0, 12), path, count]).sort()).toEqual([
        ['', '', 1],
        ['<script>\uFFFD\uFFFDxx', '/:id', 1],
        ['evil request', '', 1],
      ])
      expect((await tracker.stats()).dropped).toMatchObject({ invalid_guard_event: 8 })
    })

    test('a request-guard event is redacted', async () => {
      const { record, rows } = await guarded(database)
      record({ kind: 'throttle', rule: 'password=hunter2', path: '/reset/eyJhbGciOiJIUzI1NiJ9.abc?token=hunter2' })
      record({ kind: 'throttle', rule: 'people', path: '/people/ann@example.com/cards/4111111111111111' })
      const stored = JSON.stringify(await rows())
      for (const secret of ['hunter2', 'eyJhbGciOiJIUzI1NiJ9', 'ann@', '4111']) expect(stored).not.toContain(secret)
    })

    test('creates few rows for many addresses and counts every event', {
      timeout: 60_000,
    }, async () => {
      const { record, rows, clock, tracker } = await guarded(database)
      const addressOf = (i: number) => `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`
      for (let i = 0; i < 100_000; i++) {
        record({ kind: 'throttle', rule: 'sign-in', ip_address: addressOf(i), path: `/word${'x'.repeat(i % 500)}` })
        // One frequent address that starts late.
        if (i > 50_000 && i % 100 === 0)
          record({ kind: 'throttle', rule: 'sign-in', ip_address: '192.0.2.66', path: '/' })
        if (i % 20_000 === 0) await tracker.flush()
      }
      const all = await rows()
      expect(all.reduce((sum, { count }) => sum + count, 0)).toBe(100_000 + 499)
      expect(all.length).toBeLessThan(500)
      expect(new Set(all.map(({ ip_address }) => ip_address)).size).toBeLessThanOrEqual(101)
      const late = all.filter(({ ip_address }) => ip_address === '192.0.2.66')
      expect(late.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(450)
      clock.now = (clock.now ?? 0) + HOUR
      record({ kind: 'throttle', rule: 'sign-in', ip_address: '203.0.113.200', path: '/next' })
      expect((await rows()).some(({ ip_address }) => ip_address === '203.0.113.200')).toBe(true)
    })
  },
  { except: ['postgres', 'mysql'] },
)

describe('disabled request-guard tracking', () => {
  test('does not subscribe or store events while tracking is off', async () => {
    const { tracker } = await import('../../support/tracker.js').then(({ trackerAt, temporaryFolder }) =>
      trackerAt({ url: 'sqlite::memory:', spool_path: temporaryFolder() }, { enable_breadcrumbs: true }),
    )
    const before = process.listenerCount('beforeExit')
    tracker.requestGuard.record({ kind: 'throttle', rule: 'x' })
    expect(channel('faultboard:request-guard').hasSubscribers).toBe(false)
    expect(process.listenerCount('beforeExit')).toBe(before)
  })
})
