import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { isIP, type Server } from 'node:net'
import { Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { HostRequest } from '../capture/facts/request-facts.js'
import type { Mount } from '../dashboard/mount.js'
import { SECURITY_HEADERS } from '../dashboard/security-headers.js'
import { isStreamed } from '../dashboard/streamed.js'
import type { TrackerInstance } from '../tracker.js'

export type { HostRequest } from '../capture/facts/request-facts.js'

/**
 * Where the dashboard stands for this request, or null when the request is not for it. It is found at `mount_path` below
 * whatever router of the host it was added to; the path is compared as the client sent it, so that no other spelling
 * of it slips past the host's own guards.
 */
export function mountOf(request: Addressed, mount_path: string, prefix = request.baseUrl ?? ''): Mount | null {
  const address = request.originalUrl ?? request.url ?? '/'
  // Nearly every request is the host's, and should not pay for more than this.
  if (!address.includes(mount_path)) return null
  const path = pathOf(address)
  const base = prefix.endsWith(mount_path) ? prefix : `${prefix}${mount_path}`
  if (path !== base && !path.startsWith(`${base}/`)) return null
  return { base, path: path.slice(base.length), remote_address: addressOf(request) }
}

/** What is known of where a request goes and where it comes from. */
export interface Addressed {
  originalUrl?: string | undefined
  url?: string | undefined
  baseUrl?: string | undefined
  ip?: unknown
  socket?: { remoteAddress?: string | undefined } | undefined
}

/** Path and query of the address of a standard Request. */
export function withoutOrigin(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  return start < 0 ? '/' : url.slice(start)
}

/**
 * What a router of the host has taken from the front of an address before it came to us. Where the address was only
 * tidied up (`/x/..`), nothing was taken.
 */
export function strippedPrefix(original: string, address: string): string {
  const [from, to] = [pathOf(original), pathOf(address)]
  if (from === to) return ''
  const prefix = to === '/' ? from.replace(/\/$/, '') : from.endsWith(to) ? from.slice(0, -to.length) : ''
  return /\/(?:\.|%2e){0,2}(?:\/|$)/i.test(prefix) ? '' : prefix
}

/** The part of a path that stands for the part of a pattern before the mount: `/acme` for `/:tenant/*`. */
export function patternPrefix(address: string, pattern: string, mount_path: string): string {
  const end = pattern.indexOf(mount_path)
  const segments = (end < 0 ? pattern.replace(/\/?\*.*$/, '') : pattern.slice(0, end)).split('/').length
  return pathOf(address).split('/', segments).join('/')
}

function pathOf(address: string): string {
  return address.split(/[?#]/, 1)[0] ?? '/'
}

/** The client's address by the host's own rule about its proxies, where the framework knows one. */
function addressOf({ ip, socket }: Addressed): string | null {
  // What a proxy passes on may be anything; only an address is worth counting by.
  return typeof ip === 'string' && isIP(ip) ? ip : (socket?.remoteAddress ?? null)
}

/** Lets the dashboard answer a request of any Node.js host. Never throws: what goes wrong becomes a 500. */
export async function answer(
  tracker: TrackerInstance,
  mount: Mount,
  request: HostRequest,
  response: ServerResponse,
  parsed: unknown = request.body,
): Promise<void> {
  try {
    const { remoteAddress = null, encrypted = false } = (request.socket ?? {}) as Partial<TLSSocket>
    const connected = { ...mount, peer_address: remoteAddress, encrypted, ...closingOf(request) }
    await send(await tracker.handle(toWebRequest(request, parsed), connected), request, response)
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

/** The same for hosts that have nothing but a standard Request, whose body nobody has read yet. */
export async function answerRequest(tracker: TrackerInstance, mount: Mount, request: Request): Promise<Response> {
  try {
    return await tracker.handle(request, mount)
  } catch {
    // A tracker that was shut down.
    return new Response('Internal Server Error', { status: 500, headers: SECURITY_HEADERS })
  }
}

function toWebRequest(request: HostRequest, parsed: unknown): Request {
  const headers = new Headers()
  let authority: string | null = null
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const [name = '', value = ''] = request.rawHeaders.slice(i, i + 2)
    // HTTP/2 puts the request line into headers of its own, which no Headers object takes.
    if (!name.startsWith(':')) headers.append(name, value)
    else if (name === ':authority') authority = value
  }
  if (authority !== null && !headers.has('host')) headers.set('host', authority)
  // Joined, not resolved: a path that starts with two slashes would name another host.
  const url = `http://host${request.originalUrl ?? request.url ?? '/'}`
  const method = methodOf(request)
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method: 'GET', headers })
  return new Request(url, { method, headers, ...bodyOf(request, parsed) })
}

/** A Request refuses these, but it is for the dashboard to refuse them: to it, one method without pages is like another. */
function methodOf({ method = 'GET' }: HostRequest): string {
  return ['CONNECT', 'TRACE', 'TRACK'].includes(method.toUpperCase()) ? 'OPTIONS' : method
}

/** The body as it comes, or, where the host's own parser was quicker, as it can be told from what the parser left. */
function bodyOf(
  request: HostRequest,
  body: unknown,
): { body: ReadableStream | Uint8Array<ArrayBuffer> | string; duplex?: 'half' } | object {
  if (Buffer.isBuffer(request.rawBody)) return { body: Uint8Array.from(request.rawBody) }
  if (!Readable.isDisturbed(request)) return { body: Readable.toWeb(request), duplex: 'half' }
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

/** Whether the server that this request came by has stopped listening; nothing where that cannot be known. */
function closingOf({ socket }: HostRequest): Pick<Mount, 'closing'> {
  const { server } = (socket ?? {}) as { server?: Partial<Server> | null }
  return typeof server?.listening === 'boolean' ? { closing: () => !server.listening } : {}
}

async function send(answer: Response, request: HostRequest, response: ServerResponse): Promise<void> {
  const streamed = answer.body && isStreamed(answer.headers) ? answer.body : null
  const body = answer.body && !streamed ? Buffer.from(await answer.arrayBuffer()) : Buffer.alloc(0)
  response.statusCode = answer.status
  answer.headers.forEach((value, name) => {
    if (name !== 'set-cookie') response.setHeader(name, value)
  })
  const cookies = answer.headers.getSetCookie()
  if (cookies.length > 0) response.setHeader('set-cookie', cookies)
  if (!streamed) response.setHeader('content-length', body.length)
  // What is left of a body that was not read to its end would be taken for the next request, and a connection that is
  // kept after a stream keeps a closing server from ending. HTTP/2 has no such header.
  if ((!request.complete || streamed) && request.httpVersionMajor < 2) response.setHeader('connection', 'close')
  if (streamed && request.method !== 'HEAD') return pipe(streamed, response)
  await streamed?.cancel()
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** Sends what comes when it comes, no faster than the client takes it, and ends the source when the client is gone. */
async function pipe(source: ReadableStream<Uint8Array>, response: ServerResponse): Promise<void> {
  const reader = source.getReader()
  const gone = new AbortController()
  const leave = () => {
    gone.abort()
    // A source that fails while it is given up has nobody left to be told.
    reader.cancel().catch(() => {})
  }
  response.once('close', leave)
  // Gone while the answer was made: the event has been, and will not come again.
  if (response.destroyed) leave()
  response.flushHeaders()
  for (let next = await reader.read(); !next.done && !response.destroyed; next = await reader.read()) {
    if (response.write(next.value)) continue
    await once(response, 'drain', { signal: gone.signal }).catch(() => {})
  }
  if (!response.destroyed) response.end()
}
