import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { sentryIntake } from '../../../src/reporting/sentry/intake.js'
import { createEnvelope, type IntakeHost, intakeHost, KEY, ON_SQLITE } from './intake-host.js'

const EVENT = { message: 'it failed' }
const ENVELOPE = createEnvelope([{ type: 'event' }, EVENT])

describe('Authorization of the intake', () => {
  test('accepts the key in every place where SDKs send it', async () => {
    const host = await intakeHost(ON_SQLITE)
    const post = (path: string, headers: Record<string, string> = {}, body = ENVELOPE) =>
      fetch(`${host.origin}/sentry/api/1/${path}`, { method: 'POST', headers, body })
    const auth = `Sentry sentry_version=7, sentry_client=sentry.python/2.20.0, sentry_key=${KEY}`
    expect((await post(`envelope/?sentry_version=7&sentry_key=${KEY}`)).status).toBe(200)
    expect((await post('envelope/', { 'x-sentry-auth': auth })).status).toBe(200)
    expect((await post('envelope', { authorization: auth })).status).toBe(200)
    expect((await post('envelope/', {}, createEnvelope([{ type: 'event' }, EVENT], { dsn: host.dsn }))).status).toBe(
      200,
    )
    expect((await post('store/', { 'x-sentry-auth': auth }, JSON.stringify(EVENT))).status).toBe(200)
    expect((await host.find('it failed')).occurrence_count).toBe(5)

    const missing = await post('envelope/')
    expect(missing.status).toBe(401)
    expect(missing.headers.get('x-sentry-error')).toBe('the public key is missing')
    expect(await missing.json()).toEqual({ detail: 'the public key is missing' })
    expect((await post('store/', {}, JSON.stringify(EVENT))).status).toBe(401)
    for (const wrong of ['unknown', KEY.slice(1), `${KEY}0`, KEY.toUpperCase()]) {
      expect((await post(`envelope/?sentry_key=${wrong}`)).status).toBe(403)
    }
    expect((await post(`other/?sentry_key=${KEY}`)).status).toBe(404)
    expect((await fetch(`${host.origin}/sentry/api/1/envelope/?sentry_key=${KEY}`)).status).toBe(405)
    expect((await host.find('it failed')).occurrence_count).toBe(5)
  })

  test('rejects requests if the callback of the host fails', async () => {
    const host = await intakeHost(ON_SQLITE, {
      keys: async (public_key, project_id) => {
        if (project_id === '9') throw new Error('no database')
        return public_key === 'mobile' && project_id === '2'
      },
    })
    const post = (project: number, key: string) =>
      fetch(`${host.origin}/sentry/api/${project}/envelope/?sentry_key=${key}`, { method: 'POST', body: ENVELOPE })
    expect((await post(2, 'mobile')).status).toBe(200)
    expect((await post(1, 'mobile')).status).toBe(403)
    const failed = await post(9, 'mobile')
    expect(failed.status).toBe(500)
    expect(await failed.text()).not.toContain('no database')
  })

  test('accepts pages of allowed origins only', async () => {
    const host = await intakeHost(ON_SQLITE, { allowed_origins: ['https://shop.example'] })
    const from = (origin: string) => host.send(ENVELOPE, { origin })
    const allowed = await from('https://shop.example')
    expect(allowed.status).toBe(200)
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://shop.example')
    expect(allowed.headers.get('access-control-allow-credentials')).toBeNull()
    const rejected = await from('https://shop.example.evil.test')
    expect(rejected.status).toBe(403)
    expect(rejected.headers.get('access-control-allow-origin')).toBeNull()
    const preflight = await fetch(`${host.origin}/sentry/api/1/envelope/`, {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-headers': 'x-sentry-auth' },
    })
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([
      204,
      'content-type, x-sentry-auth',
    ])
  })

  test('sends the rate limit headers that SDKs support', async () => {
    const host = await intakeHost(ON_SQLITE, { settings: { client_max_requests_per_minute: { per_address: 2 } } })
    await host.event(EVENT)
    await host.event(EVENT)
    const isBlocked = await host.event(EVENT)
    expect(isBlocked.status).toBe(429)
    expect(isBlocked.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(isBlocked.headers.get('x-sentry-rate-limits')).toBe(`${isBlocked.headers.get('retry-after')}::key`)
  })

  test('counts requests and bytes against the total only with a valid key', async () => {
    let address = 0
    const host = await intakeHost(ON_SQLITE, {
      client_address: () => `198.51.100.${address++}`,
      settings: { client_max_requests_per_minute: { total: 2 }, client_max_bytes_per_minute: { total: 20_000 } },
    })
    const url = `${host.origin}/sentry/api/1/envelope/`
    const wrong = { dsn: host.dsn.replace(KEY, 'f'.repeat(32)), filler: 'x'.repeat(9000) }
    for (let i = 0; i < 5; i++) {
      const byQuery = await fetch(`${url}?sentry_key=${'f'.repeat(32)}`, { method: 'POST', body: 'x' })
      const inEnvelope = await fetch(url, { method: 'POST', body: createEnvelope([{ type: 'event' }, EVENT], wrong) })
      const without = await fetch(url, { method: 'POST', body: createEnvelope([{ type: 'event' }, EVENT]) })
      expect([byQuery.status, inEnvelope.status, without.status]).toEqual([403, 403, 401])
    }
    const tunneled = createEnvelope([{ type: 'event' }, EVENT], { dsn: host.dsn })
    expect((await fetch(url, { method: 'POST', body: tunneled })).status).toBe(200)
    expect((await host.event(EVENT)).status).toBe(200)
    expect((await host.event(EVENT)).status).toBe(429)
  })

  test('requires valid options', () => {
    expect(() => sentryIntake({ keys: [] })).toThrow('sentryIntake requires keys')
    expect(() => sentryIntake({ keys: [''] })).toThrow('sentryIntake requires keys')
    expect(() => sentryIntake({ keys: [KEY], max_bytes: 1e9 })).toThrow('max_bytes must be a whole number')
    expect(() => sentryIntake({ keys: [KEY], allowed_origins: ['*'] })).toThrow('is not an origin')
  })
})

describe('Envelope', () => {
  test('splits an envelope by lines and lengths', async () => {
    const host = await intakeHost(ON_SQLITE)
    const payload = JSON.stringify({ message: 'with a\nline break inside it' })
    const body = [
      `{"event_id":"${'c'.repeat(32)}"}\n`,
      `{"type":"attachment","length":12}\nline\n{"no\ne\n`,
      `{"type":"event","length":${Buffer.byteLength(payload)}}\n${payload}\n`,
      `{"type":"session"}\n{"sid":1}\n`,
      `{"type":"__proto__","length":0}\n\n`,
      `{"type":"made up"}\n`,
    ].join('')
    const response = await host.send(body)
    expect(await response.json()).toEqual({ id: 'c'.repeat(32) })
    expect((await host.find('line break')).error_type).toBe('Message')
    expect((await host.tracker.stats()).dropped).toEqual({
      'sentry_dropped: attachment': 1,
      'sentry_dropped: other': 2,
      'sentry_dropped: session': 1,
    })
  })

  test.each([
    ['no content', ''],
    ['invalid JSON', 'hello\n'],
    ['a list as header', '[]\n'],
    ['an item without a header', '{}\nnull\n{}\n'],
    ['a truncated item', '{}\n{"type":"event","length":500}\n{}'],
    ['an invalid length', '{}\n{"type":"event","length":-1}\n{}'],
    ['an event that is not an object', '{}\n{"type":"event"}\n[1]\n'],
    ['too many items', `{}\n${'{"type":"log"}\n{}\n'.repeat(101)}`],
    ['a header without an end', `{"a":"${'x'.repeat(20_000)}"}\n`],
  ])('an envelope is rejected with the reason and not recorded if it has %s', async (_, body) => {
    const host = await intakeHost(ON_SQLITE)
    const response = await host.send(body)
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({ detail: response.headers.get('x-sentry-error') })
    await host.tracker.flush()
    expect(await host.tracker.Queries.ErrorsList.call()).toEqual([])
  })

  test('an envelope may be compressed, except with brotli or zstd', async () => {
    const host = await intakeHost(ON_SQLITE)
    const send = (encoding: string, body: Uint8Array<ArrayBuffer>) => host.send(body, { 'content-encoding': encoding })
    expect((await send('gzip', Uint8Array.from(gzipSync(ENVELOPE)))).status).toBe(200)
    expect((await send('deflate', Uint8Array.from(deflateSync(ENVELOPE)))).status).toBe(200)
    expect((await send('deflate', Uint8Array.from(deflateRawSync(ENVELOPE)))).status).toBe(200)
    expect((await send('br', Uint8Array.from(brotliCompressSync(ENVELOPE)))).status).toBe(415)
    expect((await send('zstd', Uint8Array.from(Buffer.from(ENVELOPE)))).status).toBe(415)
    expect((await send('gzip, gzip', Uint8Array.from(gzipSync(gzipSync(ENVELOPE))))).status).toBe(415)
    expect((await send('constructor', Uint8Array.from(Buffer.from(ENVELOPE)))).status).toBe(415)
    expect((await send('gzip', Uint8Array.from(Buffer.from(ENVELOPE)))).status).toBe(400)
    expect((await host.find('it failed')).occurrence_count).toBe(3)
  })

  test('an envelope is limited in size before and after decompression', async () => {
    const host = await intakeHost(ON_SQLITE, { max_bytes: 10_000 })
    expect((await host.send(`{}\n${'x'.repeat(10_000)}`)).status).toBe(413)
    const decompressionBomb = Uint8Array.from(gzipSync(Buffer.alloc(50_000_000, '{')))
    expect(decompressionBomb.length).toBeLessThan(100_000)
    const compressed = Uint8Array.from(gzipSync(Buffer.alloc(1_000_000, '{')))
    expect(compressed.length).toBeLessThan(10_000)
    expect((await host.send(compressed, { 'content-encoding': 'gzip' })).status).toBe(413)
    expect((await host.send(ENVELOPE)).status).toBe(200)
  })

  test('still responds after a shutdown', async () => {
    const host: IntakeHost = await intakeHost(ON_SQLITE)
    await host.tracker.shutdown()
    const response = await host.send(ENVELOPE)
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '60'])
  })

  test('stores the client address only if the host allows it', async () => {
    const host = await intakeHost(ON_SQLITE, { store_ip_addresses: true })
    await host.event({ message: 'without an address', user: { ip_address: '{{auto}}' } })
    await host.event({ message: 'with an address', user: { ip_address: '203.0.113.9' } })
    expect((await host.find('without an address')).ip_address).toBe('127.0.0.1')
    expect((await host.find('with an address')).ip_address).toBe('203.0.113.9')
  })
})
