import { randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { markStart } from '../capture/request-facts.js'
import type { HostRequest } from './bridge.js'

/** A request as the server got it: Next.js takes `basePath` from its URL, and hides its socket from route handlers. */
export interface Arrival {
  request: HostRequest
  url: string
}

const arrivals = new WeakMap<object, Arrival>()

/** A route handler gets a copy of the headers and nothing else. No client knows this name, so none can forge it. */
const PEER_HEADER = `x-faultboard-${randomBytes(16).toString('hex')}`

const REQUEST_START = 'http.server.request.start'

/**
 * Remembers every request by its headers, the one object that Next.js passes on as it is. Gives the function that ends
 * it.
 */
export function followRequests(mount_path: string): () => void {
  const onRequest = (message: unknown) => {
    const { request } = message as { request: HostRequest }
    const url = request.url ?? '/'
    markStart(request)
    arrivals.set(request.headers, { request, url })
    if (url.includes(mount_path)) request.headers[PEER_HEADER] = `${request.socket.remoteAddress ?? ''} ${url}`
  }
  subscribe(REQUEST_START, onRequest)
  return () => unsubscribe(REQUEST_START, onRequest)
}

export function arrivalOf(headers: object): Arrival | undefined {
  return arrivals.get(headers)
}

/** What the server knew of the request of a route handler: the address of its peer, and its URL as it was sent. */
export function peerOf(headers: Headers): { remote_address: string | null; url: string | null } {
  const [remote_address, url] = headers.get(PEER_HEADER)?.split(' ') ?? []
  return { remote_address: remote_address || null, url: url ?? null }
}
