import { existsSync } from 'node:fs'
import { get, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import { gunzipSync } from 'node:zlib'
import express from 'express'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { dashboard } from '../../../src/adapters/express.js'
import { acceptsGzip, compressResponse } from '../../../src/dashboard/http/compress.js'
import { type Host, serveTracker, signIn } from '../../support/host.js'

const GZIP = { 'accept-encoding': 'gzip' }

let host: Host
beforeAll(async () => {
  host = await serveTracker({ database: 'sqlite::memory:' })
})
afterAll(() => host.close())

describe('compression of responses', () => {
  test.each(['/overview', '/errors', '/settings', '/settings.json', '/assets/dashboard.css', '/assets/dashboard.js'])(
    '%s is compressed for a client that accepts gzip, with Content-Encoding and Vary',
    async (path) => {
      const plain = await sent(path)
      const small = await sent(path, GZIP)
      expect(plain.headers['content-encoding']).toBeUndefined()
      expect(small.headers['content-encoding']).toBe('gzip')
      for (const { headers, body } of [plain, small]) {
        expect(headers.vary).toBe('Accept, Authorization, Accept-Encoding')
        expect(headers['content-length']).toBe(String(body.length))
      }
      expect(small.body.length).toBeLessThan(plain.body.length / 2)
      // Two responses differ because they contain the time.
      expect(gunzipSync(small.body).length).toBeGreaterThan(plain.body.length * 0.9)
      if (path.startsWith('/assets')) expect(gunzipSync(small.body)).toEqual(plain.body)
    },
  )

  test('a client that leaves while a streamed page is compressed does not end the process', async () => {
    const exceptions: unknown[] = []
    const record = (error: unknown) => void exceptions.push(error)
    process.on('uncaughtException', record)
    onTestFinished(() => void process.off('uncaughtException', record))
    const content = new TextEncoder().encode('content'.repeat(100_000))
    const headers = { 'content-type': 'text/html', 'x-accel-buffering': 'no' }
    for (let i = 0; i < 20; i++) {
      const page = new ReadableStream<Uint8Array>({ pull: (parts) => parts.enqueue(content) })
      const request = new Request('http://shop.example/', { headers: GZIP })
      const { body } = await compressResponse(request, new Response(page, { headers }))
      const reader = body?.getReader()
      await reader?.read()
      const pending = reader?.read()
      await new Promise((resume) => setImmediate(resume))
      await reader?.cancel()
      await pending
    }
    await new Promise((resume) => setTimeout(resume, 50))
    expect(exceptions).toEqual([])
  })

  test('assets stay cacheable', async () => {
    const { headers } = await sent('/assets/dashboard.css', GZIP)
    expect(headers['cache-control']).toBe('private, max-age=31536000, immutable')
    expect(headers['content-type']).toBe('text/css; charset=utf-8')
  })

  test('the font is cacheable, is not compressed again, and has at most 60 KB', async () => {
    const { status, headers, body } = await sent('/assets/inter.woff2', GZIP)
    expect([status, headers['content-type'], headers['content-encoding']]).toEqual([200, 'font/woff2', undefined])
    expect(headers['cache-control']).toBe('private, max-age=31536000, immutable')
    expect(body.subarray(0, 4).toString()).toBe('wOF2')
    expect(body.length).toBeLessThanOrEqual(60_000)
  })

  test('compression of responses is skipped for short, empty and streamed responses', async () => {
    const short = await sent('/errors/999999.json', GZIP)
    expect([short.status, short.headers['content-encoding']]).toEqual([404, undefined])
    expect(short.headers.vary).toContain('Accept-Encoding')
    const redirect = await sent('', GZIP)
    expect([redirect.status, redirect.headers['content-encoding'], redirect.body.length]).toEqual([302, undefined, 0])
  })

  test('compression of responses is skipped for cross-site requests, to prevent BREACH attacks', async () => {
    for (const site of ['cross-site', 'same-site'])
      expect((await sent('/errors', { ...GZIP, 'sec-fetch-site': site })).headers['content-encoding']).toBeUndefined()
    for (const site of ['same-origin', 'none'])
      expect((await sent('/errors', { ...GZIP, 'sec-fetch-site': site })).headers['content-encoding']).toBe('gzip')
  })

  test('sends the same headers for HEAD, without the body', async () => {
    const { headers, body } = await sent('/assets/dashboard.css', GZIP, 'HEAD')
    expect(headers['content-encoding']).toBe('gzip')
    expect([Number(headers['content-length']) > 500, body.length]).toEqual([true, 0])
  })

  test('keeps cookies and status', async () => {
    const headers = new Headers({ 'Content-Type': 'text/html', 'Set-Cookie': 'a=1' })
    headers.append('Set-Cookie', 'b=2')
    const page = new Response('x'.repeat(5000), { status: 422, headers })
    const small = await compressResponse(new Request('http://host/', { headers: GZIP }), page)
    expect([small.status, small.headers.getSetCookie()]).toEqual([422, ['a=1', 'b=2']])
    expect(gunzipSync(Buffer.from(await small.arrayBuffer())).toString()).toBe('x'.repeat(5000))
  })

  test.each(['text/event-stream', 'text/csv; charset=utf-8'])(
    '%s is passed through without buffering',
    async (type) => {
      const stream = new Response(new ReadableStream(), { headers: { 'Content-Type': type } })
      expect(await compressResponse(new Request('http://host/', { headers: GZIP }), stream)).toBe(stream)
    },
  )
})

test.each([
  ['gzip', true],
  ['br, GZIP;q=0.5', true],
  ['x-gzip', true],
  ['*', true],
  ['*;q=0.1, br', true],
  ['gzip;q=0', false],
  ['gzip; q=0.0, *', false],
  ['*;q=0', false],
  ['br', false],
  ['identity', false],
  ['', false],
  [null, false],
  ['gzipped', false],
  ['gzip;q=nonsense', true],
])('respects Accept-Encoding: %s', (accepted, isAccepted) => expect(acceptsGzip(accepted)).toBe(isAccepted))

const COMPRESSION = 'test/hosts/node_modules/next/dist/compiled/compression/index.js'

const missing = existsSync(COMPRESSION) ? '' : ' (skipped: next is not installed in test/hosts)'

test.skipIf(missing !== '')(`does not compress twice in a host that compresses${missing}`, async () => {
  const compression = createRequire(import.meta.url)(`../../../${COMPRESSION}`) as (options: object) => never
  const compressing = await serveTracker({ database: 'sqlite::memory:' }, {}, (tracker) => {
    return express()
      .use(compression({ threshold: 0 }))
      .use(dashboard(tracker)) as RequestListener
  })
  const { headers, body } = await sent('/errors', GZIP, 'GET', compressing)
  expect(headers['content-encoding']).toBe('gzip')
  expect(gunzipSync(body).toString()).toMatch(/^<!doctype html>/)
  await compressing.close()
})

/** Returns the raw body, which fetch would decompress. */
async function sent(path: string, headers: Record<string, string> = {}, method = 'GET', from = host): Promise<Sent> {
  const url = `${from.origin}/error_dashboard${path}`
  return new Promise((done, failed) => {
    const options = { method, agent: false as const, headers: { ...signIn(), ...headers } }
    get(url, options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        done({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      )
    }).on('error', failed)
  })
}

interface Sent {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}
