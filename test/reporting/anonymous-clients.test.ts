import { statSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import express from 'express'
import { describe, expect, test } from 'vitest'
import type { Settings } from '../../src/options.js'
import { reportingEndpoint } from '../../src/reporting/endpoint.js'
import { sentryIntake } from '../../src/reporting/sentry/intake.js'
import { sql } from '../../src/store/kysely.js'
import { freshTracker, NOON, withDatabase } from '../support/tracker.js'
import { serve } from './reporting-host.js'
import { KEY, ON_SQLITE } from './sentry/intake-host.js'

/** Encodes a number in letters, because grouping ignores digits. */
function toLetters(n: number): string {
  return [...String(n)].map((digit) => 'abcdefghij'[Number(digit)]).join('')
}

/** Host with both endpoints and the default limits. */
async function hostWithDefaults(settings: Settings = {}) {
  const host = await freshTracker(ON_SQLITE, settings)
  const app = express()
  app.all('/client_errors', reportingEndpoint({ tracker: host.tracker }).express)
  app.use('/sentry', sentryIntake({ tracker: host.tracker, keys: [KEY] }).express)
  const origin = await serve(app)
  const post = async (path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) =>
    (await fetch(`${origin}${path}`, { method: 'POST', body, headers })).status
  return {
    ...host,
    report: (body: object) => post('/client_errors', JSON.stringify(body), { 'content-type': 'application/json' }),
    envelope: (body: string) => post(`/sentry/api/1/envelope/?sentry_key=${KEY}`, body, {}),
    withoutKey: (body: Uint8Array<ArrayBuffer>) =>
      post('/sentry/api/1/envelope/', body, { 'content-encoding': 'gzip' }),
  }
}

describe('Anonymous client with the default limits', () => {
  test('an anonymous client cannot create unlimited groups, trigger incidents or flood a channel', {
    timeout: 120_000,
  }, async () => {
    const { tracker, clock, url, report, envelope } = await hostWithDefaults({
      ...{ webhook_url: 'http://127.0.0.1:9/', incident_integration_key: 'k', run_jobs: false },
      incident_events_url: 'http://127.0.0.1:9/',
    })
    for (let n = 0; n < 15; n++) {
      const errors = Array.from({ length: 10 }, (_, i) => ({
        ...{
          error_type: `OutOfMemory${toLetters(n * 10 + i)}`,
          message: toLetters(n),
          platform: 'web',
          app_version: '1',
        },
        stack: `Error: x\n    at ${toLetters(n * 10 + i)} (https://shop.example/cart.js:1:2)`,
      }))
      expect(await report({ errors })).toBe(201)
    }
    for (let n = 0; n < 2; n++) {
      clock.now = NOON + (n + 1) * 61_000
      const events = Array.from({ length: 100 }, (_, i) => ({
        ...{ level: 'fatal', fingerprint: [`${n}-${i}`] },
        exception: { values: [{ type: 'Error', value: 'x' }] },
      }))
      const items = events.map((event) => `{"type":"event"}\n${JSON.stringify(event)}`)
      expect(await envelope(`{}\n${items.join('\n')}\n`)).toBe(200)
    }
    await tracker.flush()
    const { pagination } = await tracker.Queries.ErrorsList.page({ per_page: 1 })
    expect(pagination.total_count).toBeLessThanOrEqual(201)
    expect((await tracker.Queries.DashboardStats.call()).total_occurrences).toBe(350)
    expect(await tracker.Queries.ErrorsList.call({ severity: 'critical' })).toEqual([])
    const messages = await withDatabase(url, ({ read }) =>
      read.selectFrom('faultboard_deliveries').select(['channel', 'state']).execute(),
    )
    expect(messages.filter(({ channel }) => channel === 'incident')).toEqual([])
    expect(messages.filter(({ state }) => state === 'pending')).toHaveLength(15)
  })

  test('an anonymous client cannot send envelopes without a key beyond the limit of requests', {
    timeout: 120_000,
  }, async () => {
    const { withoutKey } = await hostWithDefaults()
    // Decompresses from 1.2 KB to 1 MB.
    const costly = new Uint8Array(gzipSync(`{}\n${`{"a":[${'[],'.repeat(5400)}[]],"length":0}\n\n`.repeat(63)}`))
    const statuses: number[] = []
    for (let i = 0; i < 310; i++) statuses.push(await withoutKey(costly))
    expect(statuses[0]).toBe(401)
    expect(new Set(statuses.slice(300))).toEqual(new Set([429]))
  })

  test('an anonymous client cannot add more than 5 MB to the database in a minute', { timeout: 120_000 }, async () => {
    const { tracker, url, report } = await hostWithDefaults()
    const fileBytes = async () => {
      await tracker.flush()
      await withDatabase(url, ({ read }) => sql`pragma wal_checkpoint(truncate)`.execute(read))
      return statSync(url.replace('sqlite:', '')).size
    }
    await report({ error: { error_type: 'First', message: 'x', platform: 'web', app_version: '1' } })
    const before = await fileBytes()
    for (let n = 0; n < 60; n++) {
      const text = (length: number) => `${toLetters(n)} ${'x'.repeat(length)}`
      const frame = (_: unknown, i: number) => `    at ${toLetters(n)}${i} (https://shop.example/${text(500)}.js:1:2)`
      const error = {
        ...{ error_type: `Large${toLetters(n)}`, message: text(9000), platform: 'web', app_version: '1' },
        stack: `Error\n${Array.from({ length: 60 }, frame).join('\n')}`,
        context: Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`key${i}`, text(2000)])),
        breadcrumbs: Array.from({ length: 40 }, () => ({ category: 'ui', message: text(500) })),
      }
      expect([201, 429]).toContain(await report({ error }))
    }
    expect((await fileBytes()) - before).toBeLessThan(5_000_000)
  })
})
