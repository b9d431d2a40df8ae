import type { ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import type { HostRequest } from '../capture/facts/request-facts.js'
import { type Endpoint, jsonResponse } from './http.js'

/** Serves a request of any Node.js host. Never rejects. */
export async function serveNode(
  endpoint: Endpoint,
  request: HostRequest,
  response: ServerResponse,
  source: { host?: object; ip?: unknown; parsed?: unknown } = {},
): Promise<void> {
  try {
    const { host = request, ip = request.ip, parsed = request.body } = source
    const peer_address = request.socket?.remoteAddress ?? null
    // A proxy can forward any value, so only a valid address is used.
    const remote_address = typeof ip === 'string' && isIP(ip) ? ip : peer_address
    const origin = { remote_address, peer_address, host, ...(isBodyRead(request) && { parsed }) }
    await send(await endpoint(toRequest(request), origin), request, response)
  } catch {
    // Reached after a broken connection, an earlier response of the host, or an invalid URL.
    if (response.headersSent) response.destroy()
    else await send(jsonResponse(500, { error: 'Something went wrong.' }), request, response).catch(() => {})
  }
}

/** Checks whether a body parser of the host has started to read the body. */
function isBodyRead(request: HostRequest): boolean {
  return !Buffer.isBuffer(request.rawBody) && Readable.isDisturbed(request)
}

function toRequest(request: HostRequest): Request {
  const headers = new Headers()
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const [name = '', value = ''] = request.rawHeaders.slice(i, i + 2)
    // Skips the pseudo-headers of HTTP/2, which a Headers object rejects.
    if (!name.startsWith(':')) headers.append(name, value)
  }
  const { authority } = Object(request) as { authority?: unknown }
  if (!headers.has('host') && typeof authority === 'string' && authority !== '') headers.set('host', authority)
  // Joined, not resolved: a path that starts with two slashes would change the host.
  const url = `http://host${request.originalUrl ?? request.url ?? '/'}`
  const method = requestMethod(request)
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method, headers })
  return new Request(url, { method, headers, ...requestBody(request) })
}

/** Replaces methods that a Request rejects with another unsupported method. */
function requestMethod({ method = 'GET' }: HostRequest): string {
  return ['CONNECT', 'TRACE', 'TRACK'].includes(method.toUpperCase()) ? 'DELETE' : method
}

function requestBody(
  request: HostRequest,
): { body: ReadableStream | Uint8Array<ArrayBuffer>; duplex?: 'half' } | object {
  if (Buffer.isBuffer(request.rawBody)) return { body: Uint8Array.from(request.rawBody) }
  if (isBodyRead(request)) return {}
  return { body: Readable.toWeb(request), duplex: 'half' }
}

async function send(webResponse: Response, request: HostRequest, response: ServerResponse): Promise<void> {
  const body = Buffer.from(await webResponse.arrayBuffer())
  response.statusCode = webResponse.status
  webResponse.headers.forEach((value, name) => {
    response.setHeader(name, name === 'vary' ? mergeVary(response, value) : value)
  })
  if (webResponse.status !== 204) response.setHeader('content-length', body.length)
  // Otherwise, the rest of an unread body would be parsed as the next request. HTTP/2 has no Connection header.
  if (!request.complete && request.httpVersionMajor < 2) response.setHeader('connection', 'close')
  response.end(request.method === 'HEAD' || webResponse.status === 204 ? undefined : body)
}

/** Keeps the Vary header set by middleware of the host. */
function mergeVary(response: ServerResponse, value: string): string {
  const existing = response.getHeader('vary')
  return existing === undefined ? value : `${[existing].flat().join(', ')}, ${value}`
}
