import { request as httpRequest } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import express from 'express'
import { describe, expect, test } from 'vitest'
import { rateLimitKey } from '../../src/reporting/client.js'
import { reportingEndpoint } from '../../src/reporting/endpoint.js'
import { SeenEvents } from '../../src/reporting/seen-events.js'
import {
  onlyError,
  REPORT,
  reportingClient,
  reportingHost,
  serve,
  totalOccurrences,
  trackerFor,
} from './reporting-host.js'

const JSON_TYPE = { 'content-type': 'application/json' }

describe('Invalid requests', () => {
  test('invalid requests are rejected with 405 and the allowed method unless they use POST', async () => {
    const host = await reportingHost()
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
      const response = await host.send({ method })
      expect(response.status).toBe(405)
      expect(response.headers.get('allow')).toBe('POST, OPTIONS')
      expect(await response.json()).toEqual({ error: 'Report errors with POST.' })
    }
    expect((await host.send({ method: 'HEAD' })).status).toBe(405)
  })

  test('invalid requests are rejected if they are not JSON or are compressed', async () => {
    const host = await reportingHost()
    const body = JSON.stringify({ error: REPORT })
    const statusOf = async (headers: Record<string, string>) =>
      (await host.send({ method: 'POST', body, headers })).status
    expect(await statusOf({ 'content-type': 'application/x-www-form-urlencoded' })).toBe(415)
    expect(await statusOf({ ...JSON_TYPE, 'content-encoding': 'br' })).toBe(415)
    expect(await statusOf({ ...JSON_TYPE, 'content-encoding': 'gzip' })).toBe(415)
    expect(await statusOf({ 'content-type': 'application/json; charset=utf-8' })).toBe(201)
    expect(await statusOf({ 'content-type': 'application/vnd.api+json' })).toBe(201)
    expect(await statusOf({ 'content-type': 'text/plain;charset=UTF-8' })).toBe(201)
  })

  test('rejects a body that is too large, with or without Content-Length, and accepts later requests', async () => {
    const host = await reportingHost({ max_bytes: 2000 })
    const large = JSON.stringify({ error: { ...REPORT, stack: 'x'.repeat(300_000) } })
    const error = 'The body must not be larger than 2000 bytes.'
    expect(await host.post(large)).toMatchObject({ status: 413, body: { error } })
    const chunked = new ReadableStream({
      start(controller) {
        for (let i = 0; i < large.length; i += 10_000) controller.enqueue(Buffer.from(large.slice(i, i + 10_000)))
        controller.close()
      },
    })
    const response = await host.send({
      method: 'POST',
      headers: JSON_TYPE,
      body: chunked,
      duplex: 'half',
    } as RequestInit)
    expect(response.status).toBe(413)
    expect((await host.post({ error: REPORT })).status).toBe(201)
    expect(await totalOccurrences(host.tracker)).toBe(1)
  })

  test('invalid requests are rejected by Content-Length before the body arrives', async () => {
    const host = await reportingHost()
    const status = await new Promise((resolve, fail) => {
      const sent = httpRequest(host.url, { method: 'POST', headers: { ...JSON_TYPE, 'content-length': 50_000_000 } })
      sent.on('response', (response) => resolve(response.statusCode))
      sent.on('error', fail)
      sent.flushHeaders()
    })
    expect(status).toBe(413)
  })

  test('writes only a log line if the client disconnects', async () => {
    const host = await reportingHost()
    await new Promise<void>((resolve) => {
      const sent = httpRequest(host.url, { method: 'POST', headers: { ...JSON_TYPE, 'content-length': 100 } })
      sent.on('error', () => resolve())
      sent.write('{"error":', () => sent.destroy())
    })
    expect((await host.post({ error: REPORT })).status).toBe(201)
  })
})

describe('Authorization', () => {
  test('authorizes requests with the callback of the host', async () => {
    const host = await reportingHost({
      authorize: async ({ request }) => request.headers.get('authorization') === 'Bearer right',
    })
    expect(await host.post({ error: REPORT })).toMatchObject({
      status: 401,
      body: { error: 'This client is not allowed to report errors.' },
    })
    expect((await host.post({ error: REPORT }, { authorization: 'Bearer right' })).status).toBe(201)
    expect(await totalOccurrences(host.tracker)).toBe(1)
  })

  test('rejects clients unless the callback returns true', async () => {
    const unusualTypes = await reportingHost({ authorize: () => 'yes' as unknown as boolean })
    expect((await unusualTypes.post({ error: REPORT })).status).toBe(401)
    const failing = await reportingHost({
      authorize: () => {
        throw new Error('the session store is unavailable')
      },
    })
    const response = await failing.post({ error: REPORT })
    expect(response).toMatchObject({ status: 500, body: { error: 'The report could not be processed.' } })
    expect(failing.lines.join('')).toContain('the session store is unavailable')
    expect(await totalOccurrences(failing.tracker)).toBe(0)
  })

  test('skips authorization after shutdown, when every request receives 503', async () => {
    const host = await reportingHost()
    await host.post({ error: REPORT })
    await host.tracker.shutdown()
    const response = await host.post({ error: REPORT })
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('60')
  })
})

describe('Rate limits', () => {
  const ONE_REQUEST = { client_max_requests_per_minute: { per_address: 1 } }

  test('rate limits apply to requests and errors per minute and address', async () => {
    const host = await reportingHost({}, { client_max_requests_per_minute: { per_address: 15 } })
    const ten = { errors: Array(10).fill(REPORT) }
    expect((await host.post(ten)).status).toBe(201)
    const response = await host.post(ten)
    expect(response).toMatchObject({
      status: 429,
      body: { error: 'Too many requests or bytes from this client. Try again in 60 seconds.' },
    })
    expect(response.headers.get('retry-after')).toBe('60')
    host.clock.now += 61_000
    expect((await host.post(ten)).status).toBe(201)
    expect(await totalOccurrences(host.tracker)).toBe(20)
  })

  test('rate limits apply to all addresses in total', async () => {
    let address = 0
    const host = await reportingHost(
      { client_address: () => `198.51.100.${address++}` },
      { client_max_requests_per_minute: { total: 3 } },
    )
    for (const expected of [201, 201, 201, 429]) expect((await host.post({ error: REPORT })).status).toBe(expected)
  })

  test('rate limits count requests against the total only if the host authorizes them', async () => {
    let address = 0
    const host = await reportingHost(
      {
        client_address: () => `198.51.100.${address++}`,
        authorize: ({ request }) => request.headers.get('authorization') === 'Bearer right',
      },
      { client_max_requests_per_minute: { total: 2 } },
    )
    for (let i = 0; i < 10; i++) expect((await host.post({ error: REPORT })).status).toBe(401)
    const authorized = async () => (await host.post({ error: REPORT }, { authorization: 'Bearer right' })).status
    expect([await authorized(), await authorized(), await authorized()]).toEqual([201, 201, 429])
    expect(await totalOccurrences(host.tracker)).toBe(2)
  })

  test('rate limits use rate_limit_per_minute if enable_rate_limiting is on', async () => {
    const host = await reportingHost({}, { enable_rate_limiting: true, rate_limit_per_minute: 2 })
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await host.post({ error: {} })).status)
    expect(statuses).toEqual([422, 422, 429])
  })

  test('rate limits count clients behind a trusted proxy separately', async () => {
    const sendFrom = await reportingHost({}, { ...ONE_REQUEST, trusted_proxies: ['loopback'] })
    const from = (address: string) => ({ 'x-forwarded-for': address })
    expect((await sendFrom.post({ error: REPORT }, from('198.51.100.1'))).status).toBe(201)
    expect((await sendFrom.post({ error: REPORT }, from('198.51.100.2'))).status).toBe(201)
    expect((await sendFrom.post({ error: REPORT }, from('198.51.100.2'))).status).toBe(429)
    const unauthorized = await reportingHost({}, ONE_REQUEST)
    expect((await unauthorized.post({ error: REPORT }, from('198.51.100.1'))).status).toBe(201)
    expect((await unauthorized.post({ error: REPORT }, from('198.51.100.2'))).status).toBe(429)
  })

  test('rate limits apply before the body is read', async () => {
    const host = await reportingHost({}, ONE_REQUEST)
    expect((await host.post({ error: REPORT })).status).toBe(201)
    expect((await host.post('no JSON at all')).status).toBe(429)
  })

  test('rate limits distinguish IPv4 clients with IPv6-mapped addresses', async () => {
    const { tracker } = trackerFor(ONE_REQUEST)
    const reporting = reportingEndpoint({ tracker })
    const app = express().set('trust proxy', 'loopback')
    app.all('/client_errors', reporting.express)
    const { post } = reportingClient(`${await serve(app)}/client_errors`)
    const from = (address: string) => post({ error: REPORT }, { 'x-forwarded-for': address })
    expect((await from('::ffff:198.51.100.1')).status).toBe(201)
    expect((await from('::ffff:198.51.100.2')).status).toBe(201)
    expect((await from('198.51.100.2')).status).toBe(429)
    expect((await onlyError(tracker)).ip_address).toBe('198.51.100.2')
  })

  test('rate limits use the address that the host returns only if it is valid', async () => {
    const host = await reportingHost({ client_address: ({ request }) => request.headers.get('x-real-ip') }, ONE_REQUEST)
    const from = async (address: string) => (await host.post({ error: REPORT }, { 'x-real-ip': address })).status
    expect([await from('198.51.100.1:4711'), await from('198.51.100.1')]).toEqual([201, 429])
    // An invalid address is replaced by the peer of the socket.
    expect([await from('made up'), await from('invalid')]).toEqual([201, 429])
  })

  test('responds with Retry-After while no error can be stored', async () => {
    const unwritable = { database: 'postgres://unknown@127.0.0.1:1/nothing', spool_path: '/dev/null/spool' }
    const host = await reportingHost({}, unwritable)
    const { status, body, headers } = await host.post({ errors: [REPORT, REPORT] })
    expect({ status, body }).toEqual({ status: 503, body: { error: 'Errors cannot be accepted right now.' } })
    expect(headers.get('retry-after')).toBe('60')
  })

  test('rate limits use little memory for the ids of events', async () => {
    const { tracker } = trackerFor({})
    const seen = new SeenEvents(tracker)
    const before = heapInUse()
    for (let i = 0; i < 200; i++) {
      const event_key = `${i}${String(i % 10).repeat(250_000)}`
      expect(
        await seen.record({ source: 'reporting', error_type: 'Long', message: 'x', backtrace: [], event_key }),
      ).toBe(true)
    }
    expect(heapInUse() - before).toBeLessThan(20_000_000)
    expect(await totalOccurrences(tracker)).toBe(200)
  })

  test('rate limits count an IPv6 network as one client', () => {
    expect(rateLimitKey('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64')
    expect(rateLimitKey('2001:db8:1:2::9')).toBe('2001:db8:1:2::/64')
    expect(rateLimitKey('2001:db8::1')).toBe('2001:db8:0:0::/64')
    expect(rateLimitKey('::1')).toBe('0:0:0:0::/64')
    expect(rateLimitKey('192.0.2.1')).toBe('192.0.2.1')
    expect(rateLimitKey(null)).toBe('unknown')
  })
})

function heapInUse(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}
