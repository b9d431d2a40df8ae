import { request as httpRequest } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import express from 'express'
import { describe, expect, test } from 'vitest'
import { countedBy } from '../../src/reporting/client.js'
import { reportingEndpoint } from '../../src/reporting/endpoint.js'
import { SeenEvents } from '../../src/reporting/seen-events.js'
import { asking, onlyError, REPORT, reportingHost, serve, total, trackerFor } from './reporting-host.js'

const JSON_TYPE = { 'content-type': 'application/json' }

describe('what the endpoint refuses', () => {
  test('is every method but POST, with the one it takes', async () => {
    const host = await reportingHost()
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
      const response = await host.send({ method })
      expect(response.status).toBe(405)
      expect(response.headers.get('allow')).toBe('POST, OPTIONS')
      expect(await response.json()).toEqual({ error: 'Report errors with POST.' })
    }
    expect((await host.send({ method: 'HEAD' })).status).toBe(405)
  })

  test('is what is no JSON, or is compressed', async () => {
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

  test('is a body that is too large, whether it says so or not, and the next one is taken', async () => {
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
    expect(await total(host.tracker)).toBe(1)
  })

  test('is a body whose length alone is too much, before any of it has come', async () => {
    const host = await reportingHost()
    const status = await new Promise((settle, fail) => {
      const sent = httpRequest(host.url, { method: 'POST', headers: { ...JSON_TYPE, 'content-length': 50_000_000 } })
      sent.on('response', (response) => settle(response.statusCode))
      sent.on('error', fail)
      sent.flushHeaders()
    })
    expect(status).toBe(413)
  })

  test('is nothing more than a line of the log when the client leaves in the middle', async () => {
    const host = await reportingHost()
    await new Promise<void>((settle) => {
      const sent = httpRequest(host.url, { method: 'POST', headers: { ...JSON_TYPE, 'content-length': 100 } })
      sent.on('error', () => settle())
      sent.write('{"error":', () => sent.destroy())
    })
    expect((await host.post({ error: REPORT })).status).toBe(201)
  })
})

describe('who may report', () => {
  test('is decided by the host', async () => {
    const host = await reportingHost({
      authorize: async ({ request }) => request.headers.get('authorization') === 'Bearer right',
    })
    expect(await host.post({ error: REPORT })).toMatchObject({
      status: 401,
      body: { error: 'This client may not report here.' },
    })
    expect((await host.post({ error: REPORT }, { authorization: 'Bearer right' })).status).toBe(201)
    expect(await total(host.tracker)).toBe(1)
  })

  test('rejects clients unless the callback returns true', async () => {
    const odd = await reportingHost({ authorize: () => 'yes' as unknown as boolean })
    expect((await odd.post({ error: REPORT })).status).toBe(401)
    const failing = await reportingHost({
      authorize: () => {
        throw new Error('the session store is away')
      },
    })
    const answer = await failing.post({ error: REPORT })
    expect(answer).toMatchObject({ status: 500, body: { error: 'The report could not be processed.' } })
    expect(failing.lines.join('')).toContain('the session store is away')
    expect(await total(failing.tracker)).toBe(0)
  })

  test('receives 503 after the tracker was shut down', async () => {
    const host = await reportingHost()
    await host.post({ error: REPORT })
    await host.tracker.shutdown()
    const answer = await host.post({ error: REPORT })
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('60')
  })
})

describe('how much may be reported', () => {
  const ONE_REQUEST = { client_max_requests_per_minute: { per_address: 1 } }

  test('is bounded by requests and their errors per minute and address, always', async () => {
    const host = await reportingHost({}, { client_max_requests_per_minute: { per_address: 15 } })
    const ten = { errors: Array(10).fill(REPORT) }
    expect((await host.post(ten)).status).toBe(201)
    const answer = await host.post(ten)
    expect(answer).toMatchObject({
      status: 429,
      body: { error: 'Too many requests or bytes from this client. Try again in 60 seconds.' },
    })
    expect(answer.headers.get('retry-after')).toBe('60')
    host.clock.now += 61_000
    expect((await host.post(ten)).status).toBe(201)
    expect(await total(host.tracker)).toBe(20)
  })

  test('is bounded for all addresses together', async () => {
    let address = 0
    const host = await reportingHost(
      { client_address: () => `198.51.100.${address++}` },
      { client_max_requests_per_minute: { total: 3 } },
    )
    for (const expected of [201, 201, 201, 429]) expect((await host.post({ error: REPORT })).status).toBe(expected)
  })

  test('counts requests against the total only if the host authorizes them', async () => {
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
    expect(await total(host.tracker)).toBe(2)
  })

  test('is bounded by requests where enable_rate_limiting is on', async () => {
    const host = await reportingHost({}, { enable_rate_limiting: true, rate_limit_per_minute: 2 })
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await host.post({ error: {} })).status)
    expect(statuses).toEqual([422, 422, 429])
  })

  test('counts clients behind a trusted proxy separately', async () => {
    const behind = await reportingHost({}, { ...ONE_REQUEST, trusted_proxies: ['loopback'] })
    const from = (address: string) => ({ 'x-forwarded-for': address })
    expect((await behind.post({ error: REPORT }, from('198.51.100.1'))).status).toBe(201)
    expect((await behind.post({ error: REPORT }, from('198.51.100.2'))).status).toBe(201)
    expect((await behind.post({ error: REPORT }, from('198.51.100.2'))).status).toBe(429)
    const bare = await reportingHost({}, ONE_REQUEST)
    expect((await bare.post({ error: REPORT }, from('198.51.100.1'))).status).toBe(201)
    expect((await bare.post({ error: REPORT }, from('198.51.100.2'))).status).toBe(429)
  })

  test('is known before the body is read', async () => {
    const host = await reportingHost({}, ONE_REQUEST)
    expect((await host.post({ error: REPORT })).status).toBe(201)
    expect((await host.post('no JSON at all')).status).toBe(429)
  })

  test('distinguishes IPv4 clients that a proxy writes as IPv6', async () => {
    const { tracker } = trackerFor(ONE_REQUEST)
    const reporting = reportingEndpoint({ tracker })
    const app = express().set('trust proxy', 'loopback')
    app.all('/client_errors', reporting.express)
    const { post } = asking(`${await serve(app)}/client_errors`)
    const from = (address: string) => post({ error: REPORT }, { 'x-forwarded-for': address })
    expect((await from('::ffff:198.51.100.1')).status).toBe(201)
    expect((await from('::ffff:198.51.100.2')).status).toBe(201)
    expect((await from('198.51.100.2')).status).toBe(429)
    expect((await onlyError(tracker)).ip_address).toBe('198.51.100.2')
  })

  test('goes by an address alone where the host names it', async () => {
    const host = await reportingHost({ client_address: ({ request }) => request.headers.get('x-real-ip') }, ONE_REQUEST)
    const from = async (address: string) => (await host.post({ error: REPORT }, { 'x-real-ip': address })).status
    expect([await from('198.51.100.1:4711'), await from('198.51.100.1')]).toEqual([201, 429])
    // Then it is the peer of the socket.
    expect([await from('made up'), await from('anew')]).toEqual([201, 429])
  })

  test('asks to come again later while an error can be kept nowhere', async () => {
    const nowhere = { database: 'postgres://nobody@127.0.0.1:1/nothing', spool_path: '/dev/null/spool' }
    const host = await reportingHost({}, nowhere)
    const { status, body, headers } = await host.post({ errors: [REPORT, REPORT] })
    expect({ status, body }).toEqual({ status: 503, body: { error: 'Errors are not accepted at the moment.' } })
    expect(headers.get('retry-after')).toBe('60')
  })

  test('remembers numbered events by little, however long they are', async () => {
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
    expect(await total(tracker)).toBe(200)
  })

  test('counts a network of IPv6 as one client', () => {
    expect(countedBy('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64')
    expect(countedBy('2001:db8:1:2::9')).toBe('2001:db8:1:2::/64')
    expect(countedBy('2001:db8::1')).toBe('2001:db8:0:0::/64')
    expect(countedBy('::1')).toBe('0:0:0:0::/64')
    expect(countedBy('192.0.2.1')).toBe('192.0.2.1')
    expect(countedBy(null)).toBe('unknown')
  })
})

function heapInUse(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}
