import { statSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import express from 'express'
import { expect, test } from 'vitest'
import { OVER_LIMIT_TYPE } from '../../src/capture/clients/client-budgets.js'
import { reportingEndpoint } from '../../src/reporting/endpoint.js'
import { sentryIntake } from '../../src/reporting/sentry/intake.js'
import { freshTracker, NOON, withDatabase } from '../support/tracker.js'
import { serve } from './reporting-host.js'
import { KEY, ON_SQLITE } from './sentry/intake-host.js'

const MINUTE = 60_000
/** Enough accepted errors for the limit of new errors per hour. */
const MINUTES = 3
/** Requests of each attack per minute; exceeds the limits. */
const PER_MINUTE = 120

/** Encodes a number in letters, because grouping ignores digits. */
function toLetters(n: number): string {
  return [...String(n)].map((digit) => 'abcdefghij'[Number(digit)]).join('')
}

/** Ten new errors that claim to be critical. */
function newErrors(n: number): string {
  const errors = Array.from({ length: 10 }, (_, i) => ({
    ...{
      error_type: `OutOfMemory${toLetters(n * 10 + i)}`,
      message: toLetters(n),
      platform: 'web',
      app_version: `${n}.${i}`,
    },
    stack: `Error: x\n    at ${toLetters(n * 10 + i)} (https://shop.example/cart.js:1:2)`,
  }))
  return JSON.stringify({ errors })
}

/** Report with every field at its maximum size. */
function largeReport(n: number): string {
  const text = (length: number) => `${toLetters(n)} ${'x'.repeat(length)}`
  const breadcrumbs = Array.from({ length: 40 }, () => ({
    category: 'ui',
    message: text(500),
    metadata: { a: text(200) },
  }))
  const context = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`key${i}`, text(2000)]))
  const stack = Array.from(
    { length: 60 },
    (_, i) => `    at ${toLetters(n)}${i} (https://shop.example/${text(500)}.js:1:2)`,
  )
  const error = { error_type: `Large${toLetters(n)}`, message: text(9000), platform: 'web', app_version: `${n}` }
  return JSON.stringify({ error: { ...error, breadcrumbs, context, stack: `Error\n${stack.join('\n')}` } })
}

/** Sentry events with unique fingerprints and fatal levels. */
function fatalEvents(n: number): string {
  const event = (i: number) => ({
    ...{ level: 'fatal', fingerprint: [`${n}-${i}`], user: { id: `${n}-${i}` }, release: `shop@${n}.${i}` },
    exception: { values: [{ type: 'Error', value: 'x' }] },
  })
  return `{}\n${Array.from({ length: 5 }, (_, i) => `{"type":"event"}\n${JSON.stringify(event(i))}`).join('\n')}\n`
}

/** Response time of a page of the host in milliseconds. */
async function measurePing(origin: string): Promise<number> {
  const startedAt = performance.now()
  expect(await (await fetch(`${origin}/ping`)).text()).toBe('pong')
  return performance.now() - startedAt
}

function p95(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b)
  return Math.round(sorted[Math.floor(sorted.length * 0.95)] ?? 0)
}

/** Decompresses from 1.2 KB to 1 MB. Sent with and without a key. */
const COSTLY = new Uint8Array(gzipSync(`{}\n${`{"a":[${'[],'.repeat(5400)}[]],"length":0}\n\n`.repeat(63)}`))

test('limits requests, groups, messages and disk space of one anonymous address', {
  timeout: 600_000,
}, async () => {
  const host = await freshTracker(ON_SQLITE, {
    ...{
      webhook_url: 'http://127.0.0.1:9/',
      incident_integration_key: 'k',
      incident_events_url: 'http://127.0.0.1:9/',
    },
    ...{ severity_thresholds: { incident: 'low' }, run_jobs: false },
  })
  const { tracker, clock, url } = host
  const app = express()
  app.all('/client_errors', reportingEndpoint({ tracker }).express)
  app.use('/sentry', sentryIntake({ tracker, keys: [KEY] }).express)
  app.get('/ping', (_request, response) => void response.send('pong'))
  const origin = await serve(app)
  const file = url.replace('sqlite:', '')
  const fileBytes = async () => {
    await withDatabase(url, async ({ read }) => {
      await read.executeQuery({ sql: 'pragma wal_checkpoint(truncate)', parameters: [] } as never)
    })
    return statSync(file).size
  }
  await tracker.Commands.LogError.call({ error_type: 'ServerError', message: 'before' })
  const before = await fileBytes()

  const json = { 'content-type': 'application/json' }
  const gzip = { 'content-encoding': 'gzip' }
  const intake = `${origin}/sentry/api/1/envelope/`
  const attacks: ((n: number) => Promise<Response>)[] = [
    (n) => fetch(`${origin}/client_errors`, { method: 'POST', headers: json, body: newErrors(n) }),
    (n) => fetch(`${origin}/client_errors`, { method: 'POST', headers: json, body: largeReport(n) }),
    (n) => fetch(`${intake}?sentry_key=${KEY}`, { method: 'POST', body: fatalEvents(n) }),
    () => fetch(intake, { method: 'POST', headers: gzip, body: COSTLY }),
    () => fetch(`${intake}?sentry_key=${KEY}`, { method: 'POST', headers: gzip, body: COSTLY }),
  ]
  const baselinePings: number[] = []
  for (let i = 0; i < 20; i++) baselinePings.push(await measurePing(origin))
  let accepted = 0
  let rejected = 0
  const pings: number[] = []
  for (let minute = 0; minute < MINUTES; minute++) {
    clock.now = NOON + minute * (MINUTE + 1)
    for (let n = 0; n < PER_MINUTE; n += 6) {
      const requests = attacks.flatMap((attack, kind) =>
        Array.from({ length: 6 / 3 }, (_, i) => attack((minute * PER_MINUTE + n + i) * 5 + kind)),
      )
      const ping = measurePing(origin)
      for (const response of await Promise.all(requests)) {
        await response.arrayBuffer()
        if (response.status === 429) rejected++
        else accepted++
      }
      pings.push(await ping)
    }
  }
  await tracker.Commands.LogError.call({ error_type: 'ServerError', message: 'after', severity: 'critical' })
  await tracker.flush()

  // Requests and bytes: most requests are rejected, and each rejection is counted.
  expect(accepted + rejected).toBe((MINUTES * PER_MINUTE * 10) / 6)
  expect(accepted).toBeGreaterThan(0)
  expect(accepted).toBeLessThan(rejected)
  const { dropped } = await tracker.stats()
  expect((dropped.client_max_requests_per_minute ?? 0) + (dropped.client_max_bytes_per_minute ?? 0)).toBe(rejected)
  // Groups: the hourly limit, the shared group and both server errors.
  const { pagination } = await tracker.Queries.ErrorsList.page({ per_page: 1 })
  expect(pagination.total_count).toBeLessThanOrEqual(200 + 1 + 2)
  const [shared] = await tracker.Queries.ErrorsList.call({ error_type: OVER_LIMIT_TYPE })
  expect(shared?.occurrence_count).toBeGreaterThan(0)
  expect(shared?.occurrence_count).toBe(dropped.client_max_new_errors_per_hour)
  const clientErrors = await tracker.Queries.ErrorsList.call({ severity: 'critical' })
  expect(clientErrors.map(({ message }) => message)).toEqual(['after'])
  // Messages: the webhook receives a quarter of the hourly limit and both server errors. Only server errors are incidents.
  const rows = await withDatabase(url, ({ read }) =>
    read.selectFrom('faultboard_deliveries').select(['channel', 'state', 'payload']).execute(),
  )
  const sent = rows.filter(({ channel, state }) => channel === 'webhook' && state === 'pending')
  expect(sent).toHaveLength(60 / 4 + 2)
  expect(sent.map(({ payload }) => JSON.parse(payload).error.message)).toEqual(
    expect.arrayContaining(['before', 'after']),
  )
  expect(rows.filter(({ channel }) => channel === 'incident')).toHaveLength(2)
  // Disk: rows, indexes and text search use less than half of the bytes that one address may send.
  const growthBytes = (await fileBytes()) - before
  expect(growthBytes).toBeLessThan((MINUTES * 5_000_000) / 2)
  console.info(
    `flood: ${accepted} of ${accepted + rejected} requests accepted, ${pagination.total_count} errors, ` +
      `${Math.round(growthBytes / 1000)} KB on disk, p95 of /ping ${p95(pings)} ms (before the flood ${p95(baselinePings)} ms)`,
  )
})
