import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { sentryIntake } from '../../../src/reporting/sentry/intake.js'
import { envelopeOf, type IntakeHost, intakeHost, KEY, ON_SQLITE } from './intake-host.js'

const EVENT = { message: 'it failed' }
const ONE = envelopeOf([{ type: 'event' }, EVENT])

describe('who may send', () => {
  test('is known by the key, in any of the places where SDKs put it', async () => {
    const host = await intakeHost(ON_SQLITE)
    const post = (path: string, headers: Record<string, string> = {}, body = ONE) =>
      fetch(`${host.origin}/sentry/api/1/${path}`, { method: 'POST', headers, body })
    const auth = `Sentry sentry_version=7, sentry_client=sentry.python/2.20.0, sentry_key=${KEY}`
    expect((await post(`envelope/?sentry_version=7&sentry_key=${KEY}`)).status).toBe(200)
    expect((await post('envelope/', { 'x-sentry-auth': auth })).status).toBe(200)
    expect((await post('envelope', { authorization: auth })).status).toBe(200)
    expect((await post('envelope/', {}, envelopeOf([{ type: 'event' }, EVENT], { dsn: host.dsn }))).status).toBe(200)
    expect((await post('store/', { 'x-sentry-auth': auth }, JSON.stringify(EVENT))).status).toBe(200)
    expect((await host.find('it failed')).occurrence_count).toBe(5)

    const missing = await post('envelope/')
    expect(missing.status).toBe(401)
    expect(missing.headers.get('x-sentry-error')).toBe('the public key is missing')
    expect(await missing.json()).toEqual({ detail: 'the public key is missing' })
    expect((await post('store/', {}, JSON.stringify(EVENT))).status).toBe(401)
    for (const wrong of ['nobody', KEY.slice(1), `${KEY}0`, KEY.toUpperCase()]) {
      expect((await post(`envelope/?sentry_key=${wrong}`)).status).toBe(403)
    }
    expect((await post(`other/?sentry_key=${KEY}`)).status).toBe(404)
    expect((await fetch(`${host.origin}/sentry/api/1/envelope/?sentry_key=${KEY}`)).status).toBe(405)
    expect((await host.find('it failed')).occurrence_count).toBe(5)
  })

  test('may be left to a function of the host, which may fail', async () => {
    const host = await intakeHost(ON_SQLITE, {
      keys: async (public_key, project_id) => {
        if (project_id === '9') throw new Error('no database')
        return public_key === 'mobile' && project_id === '2'
      },
    })
    const post = (project: number, key: string) =>
      fetch(`${host.origin}/sentry/api/${project}/envelope/?sentry_key=${key}`, { method: 'POST', body: ONE })
    expect((await post(2, 'mobile')).status).toBe(200)
    expect((await post(1, 'mobile')).status).toBe(403)
    const failed = await post(9, 'mobile')
    expect(failed.status).toBe(500)
    expect(await failed.text()).not.toContain('no database')
  })

  test('are pages of the origins that were named, and no other', async () => {
    const host = await intakeHost(ON_SQLITE, { allowed_origins: ['https://shop.example'] })
    const from = (origin: string) => host.send(ONE, { origin })
    const allowed = await from('https://shop.example')
    expect(allowed.status).toBe(200)
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://shop.example')
    expect(allowed.headers.get('access-control-allow-credentials')).toBeNull()
    const refused = await from('https://shop.example.evil.test')
    expect(refused.status).toBe(403)
    expect(refused.headers.get('access-control-allow-origin')).toBeNull()
    const asked = await fetch(`${host.origin}/sentry/api/1/envelope/`, {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-headers': 'x-sentry-auth' },
    })
    expect([asked.status, asked.headers.get('access-control-allow-headers')]).toEqual([
      204,
      'content-type, x-sentry-auth',
    ])
  })

  test('receives the rate limit headers that SDKs support', async () => {
    const host = await intakeHost(ON_SQLITE, { settings: { client_max_requests_per_minute: { per_address: 2 } } })
    await host.event(EVENT)
    await host.event(EVENT)
    const held = await host.event(EVENT)
    expect(held.status).toBe(429)
    expect(held.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(held.headers.get('x-sentry-rate-limits')).toBe(`${held.headers.get('retry-after')}::key`)
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
      const inEnvelope = await fetch(url, { method: 'POST', body: envelopeOf([{ type: 'event' }, EVENT], wrong) })
      const without = await fetch(url, { method: 'POST', body: envelopeOf([{ type: 'event' }, EVENT]) })
      expect([byQuery.status, inEnvelope.status, without.status]).toEqual([403, 403, 401])
    }
    const tunneled = envelopeOf([{ type: 'event' }, EVENT], { dsn: host.dsn })
    expect((await fetch(url, { method: 'POST', body: tunneled })).status).toBe(200)
    expect((await host.event(EVENT)).status).toBe(200)
    expect((await host.event(EVENT)).status).toBe(429)
  })

  test('needs keys that are some', () => {
    expect(() => sentryIntake({ keys: [] })).toThrow('sentryIntake requires keys')
    expect(() => sentryIntake({ keys: [''] })).toThrow('sentryIntake requires keys')
    expect(() => sentryIntake({ keys: [KEY], max_bytes: 1e9 })).toThrow('max_bytes must be a whole number')
    expect(() => sentryIntake({ keys: [KEY], allowed_origins: ['*'] })).toThrow('is not an origin')
  })
})

describe('an envelope', () => {
  test('is taken apart by lines and lengths', async () => {
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
    const answer = await host.send(body)
    expect(await answer.json()).toEqual({ id: 'c'.repeat(32) })
    expect((await host.find('line break')).error_type).toBe('Message')
    expect((await host.tracker.stats()).dropped).toEqual({
      'sentry_dropped: attachment': 1,
      'sentry_dropped: other': 2,
      'sentry_dropped: session': 1,
    })
  })

  test.each([
    ['nothing at all', ''],
    ['no JSON', 'hello\n'],
    ['a list for a header', '[]\n'],
    ['an item without a header', '{}\nnull\n{}\n'],
    ['an item that is cut off', '{}\n{"type":"event","length":500}\n{}'],
    ['a length that is none', '{}\n{"type":"event","length":-1}\n{}'],
    ['an event that is no object', '{}\n{"type":"event"}\n[1]\n'],
    ['too many items', `{}\n${'{"type":"log"}\n{}\n'.repeat(101)}`],
    ['a header without an end', `{"a":"${'x'.repeat(20_000)}"}\n`],
  ])('that is %s is refused, with the reason, and nothing of it recorded', async (_, body) => {
    const host = await intakeHost(ON_SQLITE)
    const answer = await host.send(body)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toEqual({ detail: answer.headers.get('x-sentry-error') })
    await host.tracker.flush()
    expect(await host.tracker.Queries.ErrorsList.call()).toEqual([])
  })

  test('may be compressed, but never by brotli or zstd', async () => {
    const host = await intakeHost(ON_SQLITE)
    const send = (encoding: string, body: Uint8Array<ArrayBuffer>) => host.send(body, { 'content-encoding': encoding })
    expect((await send('gzip', Uint8Array.from(gzipSync(ONE)))).status).toBe(200)
    expect((await send('deflate', Uint8Array.from(deflateSync(ONE)))).status).toBe(200)
    expect((await send('deflate', Uint8Array.from(deflateRawSync(ONE)))).status).toBe(200)
    expect((await send('br', Uint8Array.from(brotliCompressSync(ONE)))).status).toBe(415)
    expect((await send('zstd', Uint8Array.from(Buffer.from(ONE)))).status).toBe(415)
    expect((await send('gzip, gzip', Uint8Array.from(gzipSync(gzipSync(ONE))))).status).toBe(415)
    expect((await send('constructor', Uint8Array.from(Buffer.from(ONE)))).status).toBe(415)
    expect((await send('gzip', Uint8Array.from(Buffer.from(ONE)))).status).toBe(400)
    expect((await host.find('it failed')).occurrence_count).toBe(3)
  })

  test('is no larger than it may be, as it is sent and unpacked', async () => {
    const host = await intakeHost(ON_SQLITE, { max_bytes: 10_000 })
    expect((await host.send(`{}\n${'x'.repeat(10_000)}`)).status).toBe(413)
    const bomb = Uint8Array.from(gzipSync(Buffer.alloc(50_000_000, '{')))
    expect(bomb.length).toBeLessThan(100_000)
    const small = Uint8Array.from(gzipSync(Buffer.alloc(1_000_000, '{')))
    expect(small.length).toBeLessThan(10_000)
    expect((await host.send(small, { 'content-encoding': 'gzip' })).status).toBe(413)
    expect((await host.send(ONE)).status).toBe(200)
  })

  test('answers an SDK after the tracker was shut down, too', async () => {
    const host: IntakeHost = await intakeHost(ON_SQLITE)
    await host.tracker.shutdown()
    const answer = await host.send(ONE)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '60'])
  })

  test('stores the client address only if the host allows it', async () => {
    const host = await intakeHost(ON_SQLITE, { store_ip_addresses: true })
    await host.event({ message: 'by itself', user: { ip_address: '{{auto}}' } })
    await host.event({ message: 'as it says', user: { ip_address: '203.0.113.9' } })
    expect((await host.find('by itself')).ip_address).toBe('127.0.0.1')
    expect((await host.find('as it says')).ip_address).toBe('203.0.113.9')
  })
})
