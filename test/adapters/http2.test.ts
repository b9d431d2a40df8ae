import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import {
  type ClientHttp2Session,
  connect,
  createSecureServer,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { withFaultboard } from '../../src/adapters/node.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { ACCEPTED_HEADERS, RECORDED_TYPE, REFUSED_HEADERS, variantPaths } from '../contract/adapter-authentication.js'
import { signIn } from '../support/host.js'
import { temporaryFolder } from '../support/tracker.js'
import { testTracker } from './served.js'

const MOUNT = '/error_dashboard'

function createCertificate(): { key: Buffer; cert: Buffer } {
  const folder = temporaryFolder()
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-days', '2']
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  execFileSync('openssl', ['req', '-x509', ...curve, '-nodes', '-keyout', key, '-out', cert, ...subject], {
    stdio: 'ignore',
  })
  return { key: readFileSync(key), cert: readFileSync(cert) }
}

interface Http2Response {
  status: number | null
  headers: Record<string, unknown>
  text: string
}

/** Starts a node:http2 host with TLS and a client that sends header names and paths unchanged. */
async function serveHttp2(tracker: TrackerInstance) {
  const listener = withFaultboard((_request, response) => response.end('ok'), tracker)
  // The compatibility API provides everything that the listener uses.
  const server = createSecureServer(createCertificate(), listener as never)
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', (session) => sessions.add(session))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `https://localhost:${(server.address() as AddressInfo).port}`
  const { port } = server.address() as AddressInfo
  let client: ClientHttp2Session | null = null
  /** Reconnects if needed: the server closes connections with oversized headers. */
  const connectedSession = () => {
    if (client && !client.closed && !client.destroyed) return client
    client = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    client.on('error', () => {})
    client.on('goaway', () => client?.destroy())
    return client
  }
  onTestFinished(() => {
    client?.destroy()
    for (const session of sessions) session.destroy()
    server.close()
  })
  async function send(headers: OutgoingHttpHeaders, body = ''): Promise<Http2Response> {
    const stream = connectedSession().request({ ':authority': new URL(origin).host, ...headers })
    const result: Http2Response = { status: null, headers: {}, text: '' }
    stream.setEncoding('utf8')
    stream.on('response', (received) => {
      result.status = received[':status'] ?? null
      result.headers = received
    })
    stream.on('data', (text: string) => {
      result.text += text
    })
    stream.on('error', () => {})
    if (headers[':method'] === 'POST') stream.end(body)
    await new Promise((closed) => stream.once('close', closed))
    return result
  }
  return { origin, send }
}

async function hostWithError() {
  const tracker = testTracker()
  const host = await serveHttp2(tracker)
  const logged = await tracker.Commands.LogError.call({ error_type: RECORDED_TYPE, message: 'm' })
  return { ...host, tracker, id: logged?.id ?? 0 }
}

/** Converts `Name: value` lines to HTTP/2 headers; null if HTTP/2 cannot represent them. */
function toHttp2Headers(lines: readonly string[]): OutgoingHttpHeaders | null {
  const names = lines.map((line) => line.split(':', 1)[0]?.toLowerCase() ?? '')
  if (new Set(names).size < names.length) return null
  return Object.fromEntries(lines.map((line, i) => [names[i], line.slice((names[i]?.length ?? 0) + 1).trim()]))
}

describe('Dashboard over HTTP/2', () => {
  test('requires credentials and serves the same pages as over HTTP/1.1', async () => {
    const { send } = await hostWithError()
    const anonymous = await send({ ':path': `${MOUNT}/errors` })
    expect(anonymous.status).toBe(401)
    expect(anonymous.headers['www-authenticate']).toBe('Basic realm="Faultboard", charset="UTF-8"')
    const page = await send({ ':path': `${MOUNT}/errors`, ...signIn() })
    expect(page.status).toBe(200)
    expect(page.text).toContain(RECORDED_TYPE)
    expect(page.headers).toMatchObject({ 'x-frame-options': 'DENY', 'cache-control': 'no-store' })
    expect(page.headers.connection).toBeUndefined()
    expect((await send({ ':path': '/' })).text).toBe('ok')
  })

  test('the dashboard cannot be reached without valid credentials by any spelling of path or header', {
    timeout: 60_000,
  }, async () => {
    const { send } = await hostWithError()
    const leaks: string[] = []
    const checkGuarded = async (headers: OutgoingHttpHeaders) => {
      const { status, text } = await send(headers)
      if (status === 302 || text.includes(RECORDED_TYPE)) leaks.push(`${status} ${JSON.stringify(headers)}`)
    }
    // HTTP/2 headers cannot contain a NUL byte.
    for (const path of variantPaths(MOUNT).filter((path) => !path.includes('\u0000')))
      await checkGuarded({ ':path': path })
    for (const lines of REFUSED_HEADERS) {
      const headers = toHttp2Headers(lines)
      if (headers) await checkGuarded({ ':path': `${MOUNT}/errors`, ...headers })
    }
    expect(leaks).toEqual([])
  })

  test('accepts every valid spelling of the credentials', async () => {
    const { send } = await hostWithError()
    for (const lines of ACCEPTED_HEADERS) {
      const { status } = await send({ ':path': `${MOUNT}/errors`, ...toHttp2Headers(lines) })
      expect([lines, status]).toEqual([lines, 200])
    }
  })

  test('reads forms and compares the origin with the scheme and authority', async () => {
    const { send, origin, id, tracker } = await hostWithError()
    const assign = (headers: OutgoingHttpHeaders) =>
      send(
        {
          ':path': `${MOUNT}/errors/${id}/assign`,
          ':method': 'POST',
          'content-type': 'application/x-www-form-urlencoded',
          ...signIn(),
          ...headers,
        },
        'assigned_to=eve',
      )
    expect((await assign({ origin: 'https://evil.example' })).status).toBe(403)
    expect((await assign({ origin: origin.replace('https:', 'http:') })).status).toBe(403)
    expect((await assign({ referer: 'https://evil.example/' })).status).toBe(403)
    expect((await assign({ origin })).status).toBe(302)
    expect((await tracker.Queries.FindError.call({ error_id: id })).assigned_to).toBe('eve')
  })

  test('marks the device cookie as Secure and limits failed sign-ins', async () => {
    const { send } = await hostWithError()
    const page = await send({ ':path': `${MOUNT}/errors`, ...signIn() })
    expect(String(page.headers['set-cookie'])).toMatch(/faultboard_device=[^;]+;.*HttpOnly; SameSite=Lax; Secure/)
    const statuses: unknown[] = []
    for (let i = 0; i < 22; i++) {
      statuses.push((await send({ ':path': `${MOUNT}/errors`, ...signIn('admin', `guess ${i}`) })).status)
    }
    expect(statuses.slice(-2)).toEqual([429, 429])
  })
})
