import { channel, hasSubscribers } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type Server, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import express from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { capture } from '../../../src/adapters/express.js'
import { instrumentMysql2 } from '../../../src/subscribers/mysql2.js'
import { instrumentRedis } from '../../../src/subscribers/redis.js'
import { describeEachDatabase } from '../../support/databases.js'
import { startListening } from '../../support/host.js'
import { freshTracker, withDatabase } from '../../support/tracker.js'
import { recordedBreadcrumbs } from '../../support/trails.js'

const SETTINGS = { enable_breadcrumbs: true }

describeEachDatabase(
  'breadcrumbs',
  (database) => {
    test('records no breadcrumbs by default', async () => {
      const { tracker } = await freshTracker(database)
      tracker.addBreadcrumb({ category: 'cart', message: 'added' })
      expect(hasSubscribers('http.client.request.start')).toBe(false)
      expect(await recordedBreadcrumbs(tracker)).toEqual([])
    })

    test('keeps the newest 40 breadcrumbs', async () => {
      const { tracker } = await freshTracker(database, SETTINGS)
      const trail = await tracker.withScope(async () => {
        for (let i = 0; i < 100; i++) tracker.addBreadcrumb({ category: 'cart', message: `step ${i}` })
        return recordedBreadcrumbs(tracker)
      })
      expect(trail.map(({ message }) => message)).toEqual(Array.from({ length: 40 }, (_, i) => `step ${i + 60}`))
    })

    test('records only the configured categories', async () => {
      const { tracker } = await freshTracker(database, { ...SETTINGS, breadcrumb_categories: ['http', 'cart'] })
      const origin = await startServer()
      const trail = await tracker.withScope(async () => {
        tracker.addBreadcrumb({ category: 'other', message: 'not wanted' })
        tracker.addBreadcrumb({ category: 'cart', message: 'wanted' })
        process.emitWarning('not wanted either')
        await (await fetch(origin)).text()
        return recordedBreadcrumbs(tracker)
      })
      expect(trail.map(({ category }) => category)).toEqual(['cart', 'http'])
    })

    test('records a node:http request with method, URL, status and duration', async () => {
      const { tracker } = await freshTracker(database, SETTINGS)
      const origin = await startServer()
      const trail = await tracker.withScope(async () => {
        const request = send(`${origin}/orders?page=2&token=s3cr3t`, { method: 'PUT', auth: 'anna:s3cr3t' })
        request.end('body')
        const [response] = (await once(request, 'response')) as [IncomingMessage]
        await response.resume().toArray()
        return recordedBreadcrumbs(tracker)
      })
      expect(trail).toEqual([
        {
          category: 'http',
          message: `PUT ${origin}/orders?page=2&token=[FILTERED]`,
          occurred_at: expect.any(String),
          duration_ms: expect.any(Number),
          metadata: { status: 201 },
        },
      ])
    })

    test('records a fetch request', async () => {
      const { tracker } = await freshTracker(database, SETTINGS)
      const origin = await startServer()
      const trail = await tracker.withScope(async () => {
        await (await fetch(`${origin}/orders?api_key=s3cr3t&user%5Bpassword%5D=s3cr3t&page=2`)).text()
        return recordedBreadcrumbs(tracker)
      })
      expect(trail).toMatchObject([
        {
          message: `GET ${origin}/orders?api_key=[FILTERED]&user%5Bpassword%5D=[FILTERED]&page=2`,
          duration_ms: expect.any(Number),
          metadata: { status: 201 },
        },
      ])
    })

    test('records failed and unfinished requests', async () => {
      const { tracker } = await freshTracker(database, SETTINGS)
      const port = await closedPort()
      const origin = await startServer()
      const trail = await tracker.withScope(async () => {
        await fetch(`http://127.0.0.1:${port}/fetched`).catch(() => {})
        await once(get(`http://127.0.0.1:${port}/got`), 'error').catch(() => {})
        const waiting = get(`${origin}/never`).on('error', () => {})
        onTestFinished(() => void waiting.destroy())
        await sleep(20)
        return recordedBreadcrumbs(tracker)
      })
      expect(trail.map(({ message, metadata }) => [message.replace(/\d+/g, '#'), metadata])).toEqual([
        ['GET http://#.#.#.#:#/fetched', { error: 'ECONNREFUSED' }],
        ['GET http://#.#.#.#:#/got', { error: 'ECONNREFUSED' }],
        ['GET http://#.#.#.#:#/never', undefined],
      ])
      expect(trail.at(-1)).not.toHaveProperty('duration_ms')
    })

    test("omits requests with the tracker's own user agent", async () => {
      const { tracker } = await freshTracker(database, SETTINGS)
      const origin = await startServer()
      const trail = await tracker.withScope(async () => {
        const headers = { 'user-agent': 'faultboard/1.0' }
        await (await fetch(origin, { headers })).text()
        const [response] = (await once(get(origin, { headers }), 'response')) as [IncomingMessage]
        await response.resume().toArray()
        return recordedBreadcrumbs(tracker)
      })
      expect(trail).toEqual([])
    })

    test('keeps the trails of 100 concurrent requests separate', async () => {
      const { tracker, url } = await freshTracker(database, SETTINGS)
      const origin = await startServer()
      const app = express()
      app.get('/:n', async (request) => {
        const { n } = request.params
        for (let i = 0; i < 5; i++) {
          tracker.addBreadcrumb({ category: 'step', message: `${n} step ${i}` })
          await sleep((Number(n) * 7 + i * 3) % 11)
          if (i % 2) await (await fetch(`${origin}/${n}/${i}`)).text()
          else
            await new Promise((resolve) =>
              get(`${origin}/${n}/${i}`, (response) => response.resume().on('end', resolve)),
            )
        }
        throw new Error(`request ${n} failed`)
      })
      app.use(capture(tracker))
      app.use((_error: unknown, _request: unknown, response: express.Response, _next: unknown) => {
        response.status(500).end()
      })
      const host = createServer(app)
      const address = await startListening(host)
      onTestFinished(() => close(host))
      await Promise.all(
        Array.from(
          { length: 100 },
          (_, n) =>
            new Promise((resolve) =>
              get(`${address}/${n}`, { agent: false }, (response) => response.resume().on('end', resolve)),
            ),
        ),
      )
      await tracker.flush()
      const [group] = await tracker.Queries.ErrorsList.call()
      expect(group?.occurrence_count).toBe(100)
      const trails = await storedTrails(url)
      expect(new Set(trails.map(({ n }) => n)).size).toBe(100)
      for (const { n, messages } of trails) {
        expect(messages).toEqual([0, 1, 2, 3, 4].flatMap((i) => [`${n} step ${i}`, `GET ${origin}/${n}/${i}`]))
      }
    })

    test('records warnings and marks deprecations', async () => {
      const { tracker } = await freshTracker(database, SETTINGS)
      const trail = await tracker.withScope(async () => {
        process.emitWarning('old way, token=s3cr3t', { type: 'DeprecationWarning', code: 'SHOP1' })
        process.emitWarning('take care', 'ShopWarning')
        await sleep(5)
        return recordedBreadcrumbs(tracker)
      })
      expect(trail).toMatchObject([
        {
          category: 'deprecation',
          message: 'DeprecationWarning: old way, token=[FILTERED]',
          metadata: { code: 'SHOP1' },
        },
        { category: 'warning', message: 'ShopWarning: take care' },
      ])
    })

    test('accepts any value that a library publishes on the channel', async () => {
      const { tracker } = await freshTracker(database, SETTINGS)
      const trail = await tracker.withScope(async () => {
        const steps = channel('faultboard:breadcrumb')
        for (const invalid of [null, 7, {}, { category: 1, message: 'x' }, new Proxy({}, {}), throwingBreadcrumb()])
          steps.publish(invalid)
        steps.publish({
          category: 'cache',
          message: 'miss',
          duration_ms: 3,
          metadata: { key: 'prices', password: 's3cr3t' },
        })
        return recordedBreadcrumbs(tracker)
      })
      expect(trail).toMatchObject([
        { category: 'cache', message: 'miss', duration_ms: 3, metadata: { key: 'prices', password: '[FILTERED]' } },
      ])
      expect((await tracker.stats()).dropped).toMatchObject({ 'failed: faultboard:breadcrumb': 1 })
    })

    test('limits the size of a breadcrumb', async () => {
      const { tracker } = await freshTracker(database, SETTINGS)
      const trail = await tracker.withScope(async () => {
        const metadata = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`key${i}`, 'x'.repeat(10_000)]))
        tracker.addBreadcrumb({ category: 'big'.repeat(1000), message: 'm'.repeat(5_000_000), metadata })
        return recordedBreadcrumbs(tracker)
      })
      expect(JSON.stringify(trail).length).toBeLessThan(5000)
    })

    test('removes all listeners and wrappers on shutdown', async () => {
      const before = process.listeners('warning').length
      const methods = { ...console }
      const { tracker } = await freshTracker(database, SETTINGS)
      instrumentMysql2(tracker)
      instrumentRedis(tracker)
      expect(hasSubscribers('tracing:mysql2:query:start')).toBe(true)
      expect(hasSubscribers('tracing:ioredis:command:start')).toBe(true)
      await tracker.shutdown()
      expect(CHANNELS.filter((name) => hasSubscribers(name))).toEqual([])
      expect(process.listeners('warning')).toHaveLength(before)
      expect({ ...console }).toEqual(methods)
    })
  },
  { except: ['postgres', 'mysql'] },
)

const CHANNELS = [
  ...['http.client.request.start', 'http.client.response.finish', 'http.client.request.error'],
  ...['undici:request:create', 'undici:request:headers', 'undici:request:error'],
  ...['tracing:mysql2:query:start', 'tracing:mysql2:execute:error', 'tracing:mysql2:pool:connect:start'],
  ...['tracing:ioredis:command:start', 'tracing:node-redis:command:asyncStart', 'tracing:pino_asJson:start'],
  ...['console.log', 'console.error', 'faultboard:breadcrumb', 'http.server.request.start'],
]

function throwingBreadcrumb(): object {
  return {
    get category() {
      throw new Error('no')
    },
  }
}

/** Reads the database directly because queries return only the newest occurrences. */
async function storedTrails(url: string): Promise<{ n: string; messages: string[] }[]> {
  const rows = await withDatabase(url, ({ read }) =>
    read.selectFrom('faultboard_occurrences').select(['request_url', 'context']).execute(),
  )
  return rows.map(({ request_url, context }) => ({
    n: /\d+$/.exec(request_url ?? '')?.[0] ?? '',
    messages: (JSON.parse(context ?? '{}').breadcrumbs as { message: string }[]).map(({ message }) => message),
  }))
}

/** Starts a server that responds with 201, or never for `/never`. */
async function startServer(): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === '/never') return
    response.statusCode = 201
    request.resume().on('end', () => response.end('ok'))
  })
  onTestFinished(() => close(server))
  return startListening(server)
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await close(server)
  return port
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}
