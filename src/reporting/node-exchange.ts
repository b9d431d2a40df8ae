import type { ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import type { HostRequest } from '../capture/facts/request-facts.js'
import { type Answering, answerJson } from './arrival.js'

/** Lets an endpoint answer a request of any Node.js host. Never rejects. */
export async function answerNode(
  answering: Answering,
  request: HostRequest,
  response: ServerResponse,
  more: { host?: object; ip?: unknown; parsed?: unknown } = {},
): Promise<void> {
  try {
    const { host = request, ip = request.ip, parsed = request.body } = more
    const peer_address = request.socket?.remoteAddress ?? null
    // What a proxy passes on may be anything; only an address is worth counting by.
    const remote_address = typeof ip === 'string' && isIP(ip) ? ip : peer_address
    const arrival = { remote_address, peer_address, host, ...(isRead(request) && { parsed }) }
    await send(await answering(toRequest(request), arrival), request, response)
  } catch {
    // A broken connection, a host that has answered already, or an address that is none.
    if (response.headersSent) response.destroy()
    else await send(answerJson(500, { error: 'Something went wrong.' }), request, response).catch(() => {})
  }
}

/** A parser of the host has taken the body, or begun to. */
function isRead(request: HostRequest): boolean {
  return !Buffer.isBuffer(request.rawBody) && Readable.isDisturbed(request)
}

function toRequest(request: HostRequest): Request {
  const headers = new Headers()
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const [name = '', value = ''] = request.rawHeaders.slice(i, i + 2)
    // HTTP/2 puts the request line into headers of its own, which no Headers object takes.
    if (!name.startsWith(':')) headers.append(name, value)
  }
  const { authority } = Object(request) as { authority?: unknown }
  if (!headers.has('host') && typeof authority === 'string' && authority !== '') headers.set('host', authority)
  // Joined, not resolved: a path that starts with two slashes would name another host.
  const url = `http://host${request.originalUrl ?? request.url ?? '/'}`
  const method = methodOf(request)
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method, headers })
  return new Request(url, { method, headers, ...bodyOf(request) })
}

/** A Request refuses these; to an endpoint that takes POST one is like another. */
function methodOf({ method = 'GET' }: HostRequest): string {
  return ['CONNECT', 'TRACE', 'TRACK'].includes(method.toUpperCase()) ? 'DELETE' : method
}

function bodyOf(request: HostRequest): { body: ReadableStream | Uint8Array<ArrayBuffer>; duplex?: 'half' } | object {
  if (Buffer.isBuffer(request.rawBody)) return { body: Uint8Array.from(request.rawBody) }
  if (isRead(request)) return {}
  return { body: Readable.toWeb(request), duplex: 'half' }
}

async function send(answer: Response, request: HostRequest, response: ServerResponse): Promise<void> {
  const body = Buffer.from(await answer.arrayBuffer())
  response.statusCode = answer.status
  answer.headers.forEach((value, name) => {
    response.setHeader(name, name === 'vary' ? joinedVary(response, value) : value)
  })
  if (answer.status !== 204) response.setHeader('content-length', body.length)
  // What is left of a body that was not read to its end would be taken for the next request. HTTP/2 has no such header.
  if (!request.complete && request.httpVersionMajor < 2) response.setHeader('connection', 'close')
  response.end(request.method === 'HEAD' || answer.status === 204 ? undefined : body)
}

/** What a middleware of the host answers by stays true. */
function joinedVary(response: ServerResponse, value: string): string {
  const known = response.getHeader('vary')
  return known === undefined ? value : `${[known].flat().join(', ')}, ${value}`
}
