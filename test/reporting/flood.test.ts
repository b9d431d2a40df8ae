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
const MINUTES = 5
/** More of each attack per minute than the limits allow. */
const PER_MINUTE = 180

/** Letters only: digits are normalized away. */
function letters(n: number): string {
  return [...String(n)].map((digit) => 'abcdefghij'[Number(digit)]).join('')
}

/** H1 of the security review: ten new errors that claim to be critical. */
function newErrors(n: number): string {
  const errors = Array.from({ length: 10 }, (_, i) => ({
    ...{
      error_type: `OutOfMemory${letters(n * 10 + i)}`,
      message: letters(n),
      platform: 'web',
      app_version: `${n}.${i}`,
    },
    stack: `Error: x\n    at ${letters(n * 10 + i)} (https://shop.example/cart.js:1:2)`,
  }))
  return JSON.stringify({ errors })
}

/** M2: a report with every field at its bound. */
function largeReport(n: number): string {
  const text = (length: number) => `${letters(n)} ${'x'.repeat(length)}`
  const breadcrumbs = Array.from({ length: 40 }, () => ({
    category: 'ui',
    message: text(500),
    metadata: { a: text(200) },
  }))
  const context = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`key${i}`, text(2000)]))
  const stack = Array.from(
    { length: 60 },
    (_, i) => `    at ${letters(n)}${i} (https://shop.example/${text(500)}.js:1:2)`,
  )
  const error = { error_type: `Large${letters(n)}`, message: text(9000), platform: 'web', app_version: `${n}` }
  return JSON.stringify({ error: { ...error, breadcrumbs, context, stack: `Error\n${stack.join('\n')}` } })
}

/** H1 with fingerprints, and levels that page. */
function fatalEvents(n: number): string {
  const event = (i: number) => ({
    ...{ level: 'fatal', fingerprint: [`${n}-${i}`], user: { id: `${n}-${i}` }, release: `shop@${n}.${i}` },
    exception: { values: [{ type: 'Error', value: 'x' }] },
  })
  return `{}\n${Array.from({ length: 5 }, (_, i) => `{"type":"event"}\n${JSON.stringify(event(i))}`).join('\n')}\n`
}

/** Milliseconds until a page of the host responds. */
async function pinged(origin: string): Promise<number> {
  const begun = performance.now()
  expect(await (await fetch(`${origin}/ping`)).text()).toBe('pong')
  return performance.now() - begun
}

function p95(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b)
  return Math.round(sorted[Math.floor(sorted.length * 0.95)] ?? 0)
}

/** H2: 1.2 kB that are 1 MB to decompress and to parse, with and without a key. */
const COSTLY = new Uint8Array(gzipSync(`{}\n${`{"a":[${'[],'.repeat(5400)}[]],"length":0}\n\n`.repeat(63)}`))

test('one anonymous address within five minutes uses bounded work, groups, messages and disk', {
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
  const quiet: number[] = []
  for (let i = 0; i < 20; i++) quiet.push(await pinged(origin))
  let taken = 0
  let refused = 0
  const pings: number[] = []
  for (let minute = 0; minute < MINUTES; minute++) {
    clock.now = NOON + minute * (MINUTE + 1)
    for (let n = 0; n < PER_MINUTE; n += 6) {
      const wave = attacks.flatMap((attack, kind) =>
        Array.from({ length: 6 / 3 }, (_, i) => attack((minute * PER_MINUTE + n + i) * 5 + kind)),
      )
      const ping = pinged(origin)
      for (const response of await Promise.all(wave)) {
        await response.arrayBuffer()
        if (response.status === 429) refused++
        else taken++
      }
      pings.push(await ping)
    }
  }
  await tracker.Commands.LogError.call({ error_type: 'ServerError', message: 'after', severity: 'critical' })
  await tracker.flush()

  // Requests and bytes: most requests are refused, and each refusal is counted.
  expect(taken + refused).toBe((MINUTES * PER_MINUTE * 10) / 6)
  expect(taken).toBeGreaterThan(0)
  expect(taken).toBeLessThan(refused)
  const { dropped } = await tracker.stats()
  expect((dropped.client_max_requests_per_minute ?? 0) + (dropped.client_max_bytes_per_minute ?? 0)).toBe(refused)
  // Groups: the limit of the hour, the shared one, and both errors of the server.
  const { pagination } = await tracker.Queries.ErrorsList.page({ per_page: 1 })
  expect(pagination.total_count).toBeLessThanOrEqual(200 + 1 + 2)
  const [shared] = await tracker.Queries.ErrorsList.call({ error_type: OVER_LIMIT_TYPE })
  expect(shared?.occurrence_count).toBe(dropped.client_max_new_errors_per_hour)
  const clients = await tracker.Queries.ErrorsList.call({ severity: 'critical' })
  expect(clients.map(({ message }) => message)).toEqual(['after'])
  // Messages: a quarter of the hourly limit and both errors of the server on the webhook, only the latter as incidents.
  const rows = await withDatabase(url, ({ read }) =>
    read.selectFrom('faultboard_deliveries').select(['channel', 'state', 'payload']).execute(),
  )
  const sent = rows.filter(({ channel, state }) => channel === 'webhook' && state === 'pending')
  expect(sent).toHaveLength(60 / 4 + 2)
  expect(sent.map(({ payload }) => JSON.parse(payload).error.message)).toEqual(
    expect.arrayContaining(['before', 'after']),
  )
  expect(rows.filter(({ channel }) => channel === 'incident')).toHaveLength(2)
  // Disk: what is stored, its indexes and the text search take less than half of the bytes that one address may send.
  const grown = (await fileBytes()) - before
  expect(grown).toBeLessThan((MINUTES * 5_000_000) / 2)
  console.info(
    `flood: ${taken} of ${taken + refused} requests taken, ${pagination.total_count} errors, ` +
      `${Math.round(grown / 1000)} kB on disk, p95 of /ping ${p95(pings)} ms (before the flood ${p95(quiet)} ms)`,
  )
})
