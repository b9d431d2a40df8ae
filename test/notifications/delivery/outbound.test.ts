import { createServer, type Server } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { Sending } from '../../../src/notifications/channels/channel.js'
import { linksOf } from '../../../src/notifications/content/links.js'
import { post } from '../../../src/notifications/delivery/outbound.js'
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

async function listening(server: Server | net.Server): Promise<string> {
  opened.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/abcdefghij?token=klmnopqrst`
}

const answering = (status: number, headers: Record<string, string> = {}, body = '') =>
  listening(createServer((_, response) => response.writeHead(status, headers).end(body)))

const send = (url: string, more: Partial<Sending> = {}) =>
  post(
    { url, key: 'new:1:chat', body: '{}' },
    { config, links: linksOf(config), now: () => NOON, signal: new AbortController().signal, ...more },
  )

describe('an answer', () => {
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
  ])('of %d means: %s', async (status, state) => {
    expect(await send(await answering(status))).toMatchObject({ state, answer: expect.stringContaining(`${status} `) })
  })

  test.each([
    ['7', 7000],
    ['0.5', 500],
    ['86400000', 86_400_000],
    [new Date(NOON + 90_000).toUTCString(), 90_000],
    [new Date(NOON - 90_000).toUTCString(), 0],
    ['soon', undefined],
    ['-5', 0],
  ])('may ask for a pause: Retry-After %s', async (value, after_ms) => {
    const outcome = await send(await answering(429, { 'Retry-After': value }))
    expect(outcome).toMatchObject({ state: 'failed', rate_limited: true })
    expect((outcome as { after_ms?: number }).after_ms).toBe(after_ms)
  })

  test('of 503 means too much to do only with Retry-After', async () => {
    expect(await send(await answering(503))).not.toHaveProperty('rate_limited')
    expect(await send(await answering(503, { 'Retry-After': '3' }))).toMatchObject({
      rate_limited: true,
      after_ms: 3000,
    })
  })

  test('that points elsewhere is not followed, and its secret path is not told', async () => {
    let visited = false
    const other = await listening(
      createServer((_, response) => {
        visited = true
        response.end()
      }),
    )
    const { state, answer } = await send(await answering(302, { Location: other }))
    expect(state).toBe('refused')
    expect(answer).toBe(
      `302 points to ${new URL(other).origin}. Redirects are not followed: set the address it points to`,
    )
    expect(visited).toBe(false)
  })

  test('is read up to a bound, however much comes', async () => {
    const endless = createServer((_, response) => {
      const more = () => {
        while (response.write('x'.repeat(1024)));
      }
      response.on('drain', more)
      more()
    })
    const { state, answer } = await send(await listening(endless))
    expect(state).toBe('sent')
    expect(answer).toHaveLength(500)
  })

  test('is kept as one clean line without secrets', async () => {
    const body = 'no \u0007\u202Ehook at /hooks/abcdefghij?token=klmnopqrst, ABCDEFGHIJ, sssshhh\nsecond line'
    expect(await send(await answering(400, {}, body))).toEqual({
      state: 'refused',
      answer: '400 no hook at ***, ***, ***',
    })
  })

  test('that would change to another protocol ends at once', async () => {
    const server = net.createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n')
      })
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
      sockets.push(closed)
    })
    const sockets: Promise<void>[] = []
    const outcome = await send(await listening(server), { limits: { connect_ms: 30_000, total_ms: 600_000 } })
    expect(outcome).toEqual({ state: 'refused', answer: '101 Switching Protocols' })
    await Promise.all(sockets)
  })

  test('that is packed although nobody asked for it is not unpacked', async () => {
    const url = await answering(200, { 'Content-Encoding': 'gzip' }, 'rubbish')
    expect(await send(url)).toEqual({ state: 'sent', answer: '200 OK' })
  })

  test.each(['', 'rubbish\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab'])(
    'that is none or half of one is a passing failure: %j',
    async (half) => {
      const server = net.createServer((socket) => {
        socket.on('error', () => {})
        socket.once('data', () => socket.end(half))
      })
      expect(await send(await listening(server))).toMatchObject({ state: 'failed' })
    },
  )
})

describe('a connection', () => {
  test('that is not made in time is given up', async () => {
    // Accepts, but never shakes hands: what stands for TLS is a server that says nothing.
    const url = await listening(net.createServer((socket) => socket.on('error', () => {}).resume()))
    const limits = { connect_ms: 100, total_ms: 20_000 }
    const outcome = await send(url.replace('http:', 'https:'), { limits })
    expect(outcome).toEqual({ state: 'failed', answer: 'no connection within 0.1 s' })
  })

  test('to a name is made only to the address that was checked', async () => {
    const url = (await answering(200)).replace('127.0.0.1', 'localhost')
    expect(await send(url)).toMatchObject({ state: 'sent' })
    const outcome = await send(url, { config: { ...config, block_private_addresses: true } })
    expect(outcome).toMatchObject({ state: 'refused', answer: expect.stringContaining('private') })
  })

  test('to a name that nobody knows is a passing failure', async () => {
    expect(await send('http://nobody.invalid/')).toMatchObject({ state: 'failed' })
  })
})
