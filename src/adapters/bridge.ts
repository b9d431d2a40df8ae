import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { isIP, type Server } from 'node:net'
import { Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { HostRequest } from '../capture/facts/request-facts.js'
import { SECURITY_HEADERS } from '../dashboard/http/security-headers.js'
import { isStreamed } from '../dashboard/http/streamed.js'
import type { Mount } from '../dashboard/mount.js'
import type { TrackerInstance } from '../tracker.js'

export type { HostRequest } from '../capture/facts/request-facts.js'

/**
 * Mount point of the dashboard for this request, or null if the request is not for the dashboard. It is at
 * `mount_path` below the host's router. Compares the path as sent by the client, so that no other spelling bypasses
 * the host's guards.
 */
export function findMount(request: RequestTarget, mount_path: string, prefix = request.baseUrl ?? ''): Mount | null {
  const url = request.originalUrl ?? request.url ?? '/'
  // Fast path: nearly every request belongs to the host.
  if (!url.includes(mount_path)) return null
  const path = pathname(url)
  const base = prefix.endsWith(mount_path) ? prefix : `${prefix}${mount_path}`
  if (path !== base && !path.startsWith(`${base}/`)) return null
  return { base, path: path.slice(base.length), remote_address: clientAddress(request) }
}

/** Target and origin of a request. */
export interface RequestTarget {
  originalUrl?: string | undefined
  url?: string | undefined
  baseUrl?: string | undefined
  ip?: unknown
  socket?: { remoteAddress?: string | undefined } | undefined
}

/** Path and query of the URL of a standard Request. */
export function withoutOrigin(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  return start < 0 ? '/' : url.slice(start)
}

/** Prefix that a host router removed from a path. Empty if the path was only normalized (`/x/..`). */
export function strippedPrefix(original: string, url: string): string {
  const [from, to] = [pathname(original), pathname(url)]
  if (from === to) return ''
  const prefix = to === '/' ? from.replace(/\/$/, '') : from.endsWith(to) ? from.slice(0, -to.length) : ''
  return /\/(?:\.|%2e){0,2}(?:\/|$)/i.test(prefix) ? '' : prefix
}

/** The part of a path that matches the pattern before the mount point: `/acme` for `/:tenant/*`. */
export function patternPrefix(url: string, pattern: string, mount_path: string): string {
  const end = pattern.indexOf(mount_path)
  const segments = (end < 0 ? pattern.replace(/\/?\*.*$/, '') : pattern.slice(0, end)).split('/').length
  return pathname(url).split('/', segments).join('/')
}

function pathname(url: string): string {
  return url.split(/[?#]/, 1)[0] ?? '/'
}

/** Client address according to the framework's proxy settings, or the peer address of the socket. */
function clientAddress({ ip, socket }: RequestTarget): string | null {
  // A proxy can forward any value. Only a valid address is useful.
  return typeof ip === 'string' && isIP(ip) ? ip : (socket?.remoteAddress ?? null)
}

/** Serves the dashboard for a request from any Node.js host. Never throws: failures become a 500 response. */
export async function serveDashboard(
  tracker: TrackerInstance,
  mount: Mount,
  request: HostRequest,
  response: ServerResponse,
  parsedBody: unknown = request.body,
): Promise<void> {
  try {
    const { remoteAddress = null, encrypted = false } = (request.socket ?? {}) as Partial<TLSSocket>
    const mountWithPeer = {
      host_request: request,
      ...mount,
      peer_address: remoteAddress,
      encrypted,
      ...closingCheck(request),
    }
    await send(await tracker.handle(toWebRequest(request, parsedBody), mountWithPeer), request, response)
  } catch {
    // Reached if the connection broke, the host has already responded, or the tracker was shut down. The handler
    // responds to its own errors.
    if (response.headersSent) response.destroy()
    else {
      response.statusCode = 500
      for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value)
      response.end('Internal Server Error')
    }
  }
}

/** Variant for hosts with a standard Request whose body is unread. */
export async function serveWebRequest(tracker: TrackerInstance, mount: Mount, request: Request): Promise<Response> {
  try {
    return await tracker.handle(request, mount)
  } catch {
    // The tracker was shut down.
    return new Response('Internal Server Error', { status: 500, headers: SECURITY_HEADERS })
  }
}

function toWebRequest(request: HostRequest, parsedBody: unknown): Request {
  const headers = new Headers()
  let authority: string | null = null
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const [name = '', value = ''] = request.rawHeaders.slice(i, i + 2)
    // HTTP/2 has pseudo headers, which a Headers object rejects.
    if (!name.startsWith(':')) headers.append(name, value)
    else if (name === ':authority') authority = value
  }
  if (authority !== null && !headers.has('host')) headers.set('host', authority)
  // Joined, not resolved: a path that starts with two slashes would change the host.
  const url = `http://host${request.originalUrl ?? request.url ?? '/'}`
  const method = webMethod(request)
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method: 'GET', headers })
  return new Request(url, { method, headers, ...webBody(request, parsedBody) })
}

/** A Request rejects these methods, but the dashboard should respond to them as to any other unsupported method. */
function webMethod({ method = 'GET' }: HostRequest): string {
  return ['CONNECT', 'TRACE', 'TRACK'].includes(method.toUpperCase()) ? 'OPTIONS' : method
}

/** The raw body, or a body rebuilt from the result of the host's body parser. */
function webBody(
  request: HostRequest,
  body: unknown,
): { body: ReadableStream | Uint8Array<ArrayBuffer> | string; duplex?: 'half' } | object {
  if (Buffer.isBuffer(request.rawBody)) return { body: Uint8Array.from(request.rawBody) }
  // Reading an empty body ends the request, but does not mark it as disturbed.
  if (!Readable.isDisturbed(request) && !request.readableEnded) return { body: Readable.toWeb(request), duplex: 'half' }
  if (body === undefined || body === null) return {}
  if (Buffer.isBuffer(body)) return { body: Uint8Array.from(body) }
  return { body: typeof body === 'string' ? body : encodeForm(body as object).toString() }
}

const MAX_PAIRS = 3001

/** Re-encodes a parsed form: lists become `name[]`, regardless of the parser. */
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

/** Returns a check for whether the server has stopped listening, or nothing if the socket has no server. */
function closingCheck({ socket }: HostRequest): Pick<Mount, 'closing'> {
  const { server } = (socket ?? {}) as { server?: Partial<Server> | null }
  return typeof server?.listening === 'boolean' ? { closing: () => !server.listening } : {}
}

async function send(webResponse: Response, request: HostRequest, response: ServerResponse): Promise<void> {
  const stream = webResponse.body && isStreamed(webResponse.headers) ? webResponse.body : null
  const body = webResponse.body && !stream ? Buffer.from(await webResponse.arrayBuffer()) : Buffer.alloc(0)
  response.statusCode = webResponse.status
  webResponse.headers.forEach((value, name) => {
    if (name !== 'set-cookie') response.setHeader(name, value)
  })
  const cookies = webResponse.headers.getSetCookie()
  if (cookies.length > 0) response.setHeader('set-cookie', cookies)
  if (!stream) response.setHeader('content-length', body.length)
  // Needed because the rest of an unread body would be parsed as the next request. A keep-alive connection would also
  // prevent a server from closing. HTTP/2 has no Connection header.
  if ((!request.complete || stream) && request.httpVersionMajor < 2) response.setHeader('connection', 'close')
  if (stream && request.method !== 'HEAD') return pipe(stream, response)
  await stream?.cancel()
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** Pipes with backpressure, and cancels the source when the client disconnects. */
async function pipe(source: ReadableStream<Uint8Array>, response: ServerResponse): Promise<void> {
  const reader = source.getReader()
  const disconnectController = new AbortController()
  const onDisconnect = () => {
    disconnectController.abort()
    // Nothing can handle a failed cancellation.
    reader.cancel().catch(() => {})
  }
  response.once('close', onDisconnect)
  // Already disconnected: the close event will not fire again.
  if (response.destroyed) onDisconnect()
  response.flushHeaders()
  for (let chunk = await reader.read(); !chunk.done && !response.destroyed; chunk = await reader.read()) {
    if (response.write(chunk.value)) continue
    await once(response, 'drain', { signal: disconnectController.signal }).catch(() => {})
  }
  if (!response.destroyed) response.end()
}
