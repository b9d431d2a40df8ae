import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import type { Mount } from '../dashboard/handler.js'
import { SECURITY_HEADERS } from '../dashboard/security-headers.js'
import type { TrackerInstance } from '../tracker.js'

/** What a host framework may have added to the request before us. */
export type HostRequest = IncomingMessage & {
  originalUrl?: string
  baseUrl?: string
  body?: unknown
  rawBody?: unknown
}

/**
 * Where the dashboard stands for this request, or null when the request is not for it. It is found at `mount_path` below
 * whatever router of the host it was added to; the path is compared as the client sent it, so that no other spelling
 * of it slips past the host's own guards.
 */
export function mountOf(request: HostRequest, mount_path: string): Mount | null {
  const full = request.originalUrl ?? request.url ?? '/'
  const path = full.split(/[?#]/, 1)[0] ?? '/'
  const outer = request.baseUrl ?? ''
  const base = outer.endsWith(mount_path) ? outer : `${outer}${mount_path}`
  if (path !== base && !path.startsWith(`${base}/`)) return null
  return { base, path: path.slice(base.length), remote_address: addressOf(request) }
}

/** The client's address by the host's own rule about its proxies, where the framework knows one. */
function addressOf({ ip, socket }: HostRequest & { ip?: unknown }): string | null {
  // What a proxy passes on may be anything; only an address is worth counting by.
  return typeof ip === 'string' && isIP(ip) ? ip : (socket.remoteAddress ?? null)
}

/** Lets the dashboard answer a request of any Node.js host. Never throws: what goes wrong becomes a 500. */
export async function answer(
  tracker: TrackerInstance,
  mount: Mount,
  request: HostRequest,
  response: ServerResponse,
): Promise<void> {
  try {
    await send(await tracker.handle(toWebRequest(request), mount), request, response)
  } catch {
    // The handler answers its own errors; a broken connection, a host that already answered or a tracker that was shut
    // down comes here.
    if (response.headersSent) response.destroy()
    else {
      response.statusCode = 500
      for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value)
      response.end('Internal Server Error')
    }
  }
}

function toWebRequest(request: HostRequest): Request {
  const headers = new Headers()
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const [name = '', value = ''] = request.rawHeaders.slice(i, i + 2)
    // HTTP/2 puts the request line into headers of its own, which no Headers object takes.
    if (!name.startsWith(':')) headers.append(name, value)
  }
  // Joined, not resolved: a path that starts with two slashes would name another host.
  const url = `http://host${request.originalUrl ?? request.url ?? '/'}`
  const method = methodOf(request)
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method: 'GET', headers })
  return new Request(url, { method, headers, ...bodyOf(request) })
}

/** A Request refuses these, but it is for the dashboard to refuse them: to it, one method without pages is like another. */
function methodOf({ method = 'GET' }: HostRequest): string {
  return ['CONNECT', 'TRACE', 'TRACK'].includes(method.toUpperCase()) ? 'OPTIONS' : method
}

/** The body as it comes, or, where the host's own parser was quicker, as it can be told from what the parser left. */
function bodyOf(
  request: HostRequest,
): { body: ReadableStream | Uint8Array<ArrayBuffer> | string; duplex?: 'half' } | object {
  if (Buffer.isBuffer(request.rawBody)) return { body: Uint8Array.from(request.rawBody) }
  if (!Readable.isDisturbed(request)) return { body: Readable.toWeb(request), duplex: 'half' }
  const { body } = request
  if (body === undefined || body === null) return {}
  if (Buffer.isBuffer(body)) return { body: Uint8Array.from(body) }
  return { body: typeof body === 'string' ? body : encodeForm(body as object).toString() }
}

const MAX_PAIRS = 3001

/** A parsed form as it was sent: lists become `name[]`, whichever way the parser had read them. */
export function encodeForm(body: object): URLSearchParams {
  const form = new URLSearchParams()
  const add = (name: string, value: unknown): void => {
    if (form.size >= MAX_PAIRS) return
    if (value === null || value === undefined) return
    if (typeof value !== 'object') form.append(name, String(value))
    else for (const item of Object.values(value)) add(name.endsWith('[]') ? name : `${name}[]`, item)
  }
  for (const [name, value] of Object.entries(body)) add(name, value)
  return form
}

async function send(answer: Response, request: HostRequest, response: ServerResponse): Promise<void> {
  const body = answer.body ? Buffer.from(await answer.arrayBuffer()) : Buffer.alloc(0)
  response.statusCode = answer.status
  answer.headers.forEach((value, name) => {
    if (name !== 'set-cookie') response.setHeader(name, value)
  })
  const cookies = answer.headers.getSetCookie()
  if (cookies.length > 0) response.setHeader('set-cookie', cookies)
  response.setHeader('content-length', body.length)
  // What is left of a body that was not read to its end would be taken for the next request.
  if (!request.complete) response.setHeader('connection', 'close')
  response.end(request.method === 'HEAD' ? undefined : body)
}
