import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import { BurstyRateLimiter, RateLimiterMemory, RateLimiterUnion } from 'rate-limiter-flexible'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Settings } from '../../src/options.js'
import { withRequestGuard as countedLimiter } from '../../src/subscribers/express-rate-limit.js'
import { withRequestGuard as countedOptions } from '../../src/subscribers/fastify-rate-limit.js'
import { instrumentLimiter } from '../../src/subscribers/rate-limiter-flexible.js'
import { temporaryFolder, trackerAt } from '../support/tracker.js'

const ON: Settings = { enable_request_guard_tracking: true, enable_breadcrumbs: true }

function started(settings: Settings) {
  return trackerAt({ url: `sqlite:${temporaryFolder()}/test.sqlite3`, spool_path: temporaryFolder() }, settings).tracker
}

async function countsOf(tracker: ReturnType<typeof started>) {
  await tracker.flush()
  const { by_rule } = await tracker.Queries.RequestGuardSummary.call()
  return Object.fromEntries(by_rule.map(({ rule, kind, count }) => [`${kind} ${rule}`, count]))
}

describe('disabled request-guard tracking', () => {
  test('returns limiters and options unchanged', () => {
    const tracker = started({ enable_breadcrumbs: true })
    const limiter = rateLimit({ limit: 1 })
    const options = { max: 1 }
    const flexible = new RateLimiterMemory({ points: 1, duration: 1 })
    expect(countedLimiter(limiter, { rule: 'x' }, tracker)).toBe(limiter)
    expect(countedOptions(options, { rule: 'x' }, tracker)).toBe(options)
    instrumentLimiter(flexible, { rule: 'x' }, tracker)
    expect(Object.hasOwn(flexible, 'consume') || Object.hasOwn(flexible, 'block')).toBe(false)
  })
})

describe('a limiter of express-rate-limit', () => {
  test('a wrapped limiter keeps its own methods', async () => {
    const counted = countedLimiter(rateLimit({ limit: 1 }), { rule: 'x' }, started(ON))
    expect(await counted.getKey('unknown')).toBeUndefined()
    expect(() => counted.resetKey('unknown')).not.toThrow()
  })

  const oldLimiter = resolve('test/hosts/node_modules/express-rate-limit5')
  const missing = existsSync(oldLimiter) ? '' : ' (skipped: express-rate-limit 5 is not installed in test/hosts)'
  test.skipIf(missing !== '')(
    `a limiter of version 5, which returns no promises, counts each rejected request once${missing}`,
    async () => {
      const tracker = started(ON)
      const limiter = createRequire(import.meta.url)(oldLimiter)({ max: 1 })
      const server = express()
        .use(countedLimiter(limiter, { rule: 'sign-in' }, tracker))
        .listen(0)
      onTestFinished(() => void server.close())
      const statuses = []
      for (let i = 0; i < 3; i++) {
        statuses.push((await fetch(`http://localhost:${(server.address() as AddressInfo).port}/`)).status)
      }
      expect(statuses).toEqual([404, 429, 429])
      await expect.poll(() => countsOf(tracker)).toEqual({ 'throttle sign-in': 2 })
    },
  )
})

describe('rate-limiter-flexible', () => {
  test('restores the limiter at shutdown and stops counting', async () => {
    const tracker = started(ON)
    const limiter = new RateLimiterMemory({ points: 1, duration: 600 })
    instrumentLimiter(limiter, { rule: 'x' }, tracker)
    expect(Object.hasOwn(limiter, 'consume')).toBe(true)
    await tracker.shutdown()
    expect(Object.hasOwn(limiter, 'consume') || Object.hasOwn(limiter, 'block')).toBe(false)
  })

  test('counts each rejection of any limiter once, by the address in its key', async () => {
    const tracker = started(ON)
    const memory = () => new RateLimiterMemory({ points: 1, duration: 600, keyPrefix: String(Math.random()) })
    const union = new RateLimiterUnion(memory(), memory())
    const bursty = new BurstyRateLimiter(memory(), memory())
    instrumentLimiter(union, { rule: 'union' }, tracker)
    instrumentLimiter(bursty, { rule: 'bursty', kind: 'track' }, tracker)
    const refusals = []
    for (let i = 0; i < 4; i++) {
      for (const limiter of [union, bursty])
        refusals.push(await limiter.consume('192.0.2.7', 1).catch((rejection) => rejection))
    }
    expect(refusals.filter((rejection) => rejection instanceof Error)).toEqual([])
    expect(await countsOf(tracker)).toEqual({ 'throttle union': 3, 'track bursty': 2 })
    const { by_address } = await tracker.Queries.RequestGuardSummary.call()
    expect(by_address).toMatchObject([{ ip_address: '192.0.2.7', count: 5 }])
  })

  test('passes on the original rejection and any other rejection of a failing store', async () => {
    const tracker = started(ON)
    const limiter = new RateLimiterMemory({ points: 1, duration: 600 })
    const response = { remainingPoints: 0, msBeforeNext: 5 }
    const failure = new Error('the store is away')
    const host = { next: response as unknown, consume: () => Promise.reject(host.next) }
    instrumentLimiter(host, { rule: 'made up' }, tracker)
    expect(await host.consume().catch((rejection: unknown) => rejection)).toBe(response)
    for (const other of [failure, undefined, null, 'text', {}, { a: 1 }]) {
      host.next = other
      expect(await host.consume().catch((rejection: unknown) => rejection)).toBe(other)
    }
    expect(await countsOf(tracker)).toEqual({ 'throttle made up': 1 })
    expect(await limiter.consume('x')).toMatchObject({ consumedPoints: 1 })
  })
})

describe('@fastify/rate-limit', () => {
  test('@fastify/rate-limit keeps the options and hooks of the host', () => {
    const calls: unknown[] = []
    const own = { max: 3, onExceeded: (...values: unknown[]) => calls.push(values) }
    const { max, onExceeded, onBanReach } = countedOptions(own, { rule: 'x' }, started(ON)) as typeof own & {
      onBanReach(request: object, key: string): void
    }
    const request = {}
    onExceeded(request, 'key')
    onBanReach(request, 'key')
    expect([max, calls]).toEqual([3, [[request, 'key']]])
  })
})
