import { createServer, type Server } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { SendContext } from '../../../src/notifications/channels/channel.js'
import { dashboardLinks } from '../../../src/notifications/content/dashboard-links.js'
import { post } from '../../../src/notifications/outbound/http-post.js'
import { resolveConfiguration } from '../../../src/options.js'
import { CREDENTIALS, NOON } from '../../support/tracker.js'

const { options: config } = resolveConfiguration({ ...CREDENTIALS, webhook_secret: 'sssshhh' }, {})
const opened: (Server | net.Server)[] = []

afterEach(async () => {
  for (const server of opened.splice(0)) {
    if ('closeAllConnections' in server) server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

async function listen(server: Server | net.Server): Promise<string> {
  opened.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/abcdefghij?token=klmnopqrst`
}

const respondWith = (status: number, headers: Record<string, string> = {}, body = '') =>
  listen(createServer((_, response) => response.writeHead(status, headers).end(body)))

const send = (url: string, more: Partial<SendContext> = {}) =>
  post(
    { url, key: 'new:1:chat', body: '{}' },
    { config, links: dashboardLinks(config), now: () => NOON, signal: new AbortController().signal, ...more },
  )

describe('handling of an HTTP response', () => {
  test.each([
    [200, 'sent'],
    [204, 'sent'],
    [400, 'refused'],
    [401, 'refused'],
    [404, 'refused'],
    [410, 'refused'],
    [408, 'failed'],
    [425, 'failed'],
    [429, 'failed'],
    [500, 'failed'],
    [503, 'failed'],
    [301, 'refused'],
    [308, 'refused'],
  ])('treats status %d as %s', async (status, state) => {
    expect(await send(await respondWith(status))).toMatchObject({
      state,
      response: expect.stringContaining(`${status} `),
    })
  })

  test.each([
    ['7', 7000],
    ['0.5', 500],
    ['86400000', 86_400_000],
    [new Date(NOON + 90_000).toUTCString(), 90_000],
    [new Date(NOON - 90_000).toUTCString(), 0],
    ['soon', undefined],
    ['-5', 0],
  ])('delays the retry according to Retry-After %s', async (value, after_ms) => {
    const outcome = await send(await respondWith(429, { 'Retry-After': value }))
    expect(outcome).toMatchObject({ state: 'failed', rate_limited: true })
    expect((outcome as { after_ms?: number }).after_ms).toBe(after_ms)
  })

  test('treats status 503 as a rate limit only with Retry-After', async () => {
    expect(await send(await respondWith(503))).not.toHaveProperty('rate_limited')
    expect(await send(await respondWith(503, { 'Retry-After': '3' }))).toMatchObject({
      rate_limited: true,
      after_ms: 3000,
    })
  })

  test('does not follow redirects or log their secret paths', async () => {
    let visited = false
    const other = await listen(
      createServer((_, response) => {
        visited = true
        response.end()
      }),
    )
    const { state, response } = await send(await respondWith(302, { Location: other }))
    expect(state).toBe('refused')
    expect(response).toBe(
      `302 redirects to ${new URL(other).origin}. Redirects are not followed; configure the target URL.`,
    )
    expect(visited).toBe(false)
  })

  test('reads a response up to the size limit', async () => {
    const endless = createServer((_, response) => {
      const more = () => {
        while (response.write('x'.repeat(1024)));
      }
      response.on('drain', more)
      more()
    })
    const { state, response } = await send(await listen(endless))
    expect(state).toBe('sent')
    expect(response).toHaveLength(500)
  })

  test('logs a response as one clean line without secrets', async () => {
    const body = 'no \u0007\u202Ehook at /hooks/abcdefghij?token=klmnopqrst, ABCDEFGHIJ, sssshhh\nsecond line'
    expect(await send(await respondWith(400, {}, body))).toEqual({
      state: 'refused',
      response: '400 no hook at ***, ***, ***',
    })
  })

  test('ends immediately on a protocol upgrade', async () => {
    const server = net.createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n')
      })
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
      sockets.push(closed)
    })
    const sockets: Promise<void>[] = []
    const outcome = await send(await listen(server), { timeouts: { connect_ms: 30_000, total_ms: 600_000 } })
    expect(outcome).toEqual({ state: 'refused', response: '101 Switching Protocols' })
    await Promise.all(sockets)
  })

  test('does not decompress an unrequested compressed response', async () => {
    const url = await respondWith(200, { 'Content-Encoding': 'gzip' }, 'rubbish')
    expect(await send(url)).toEqual({ state: 'sent', response: '200 OK' })
  })

  test.each(['', 'rubbish\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab'])(
    'treats a missing or incomplete response as a temporary failure: %j',
    async (partialResponse) => {
      const server = net.createServer((socket) => {
        socket.on('error', () => {})
        socket.once('data', () => socket.end(partialResponse))
      })
      expect(await send(await listen(server))).toMatchObject({ state: 'failed' })
    },
  )
})

describe('an outbound connection', () => {
  test('times out if a server does not complete the TLS handshake', async () => {
    // Simulates TLS with a server that accepts the connection but never completes the handshake.
    const url = await listen(net.createServer((socket) => socket.on('error', () => {}).resume()))
    const timeouts = { connect_ms: 100, total_ms: 20_000 }
    const outcome = await send(url.replace('http:', 'https:'), { timeouts })
    expect(outcome).toEqual({ state: 'failed', response: 'Connection timed out after 0.1 s.' })
  })

  test('connects only to the address that was checked', async () => {
    const url = (await respondWith(200)).replace('127.0.0.1', 'localhost')
    expect(await send(url)).toMatchObject({ state: 'sent' })
    const outcome = await send(url, { config: { ...config, block_private_addresses: true } })
    expect(outcome).toMatchObject({ state: 'refused', response: expect.stringContaining('private') })
  })

  test('treats an unknown host as a temporary failure', async () => {
    expect(await send('http://unknown.invalid/')).toMatchObject({ state: 'failed' })
  })
})
