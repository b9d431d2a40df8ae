import { randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:http'
import { markStart } from '../capture/facts/request-facts.js'
import type { Mount } from '../dashboard/mount.js'
import type { HostRequest } from './bridge.js'

/**
 * A request as received by the server: Next.js removes `basePath` from its URL and hides its socket from route
 * handlers.
 */
export interface ReceivedRequest {
  request: HostRequest
  url: string
}

const receivedRequests = new WeakMap<object, ReceivedRequest>()

/**
 * Header that passes the peer to a route handler, which only receives a copy of the headers. Its random name prevents
 * clients from forging it.
 */
const PEER_HEADER = `x-faultboard-${randomBytes(16).toString('hex')}`

const REQUEST_START = 'http.server.request.start'

/**
 * Tracks requests by their headers object, the only object that Next.js passes on unchanged. Returns a function that
 * stops tracking.
 */
export function trackRequests(mount_path: string): () => void {
  const onRequest = (message: unknown) => {
    const { request, server } = message as { request: HostRequest; server: Server }
    const url = request.url ?? '/'
    markStart(request)
    receivedRequests.set(request.headers, { request, url })
    if (!url.includes(mount_path)) return
    request.headers[PEER_HEADER] = `${request.socket.remoteAddress ?? ''} ${url} ${serverIndex(server)}`
  }
  subscribe(REQUEST_START, onRequest)
  return () => unsubscribe(REQUEST_START, onRequest)
}

export function findReceivedRequest(headers: object): ReceivedRequest | undefined {
  return receivedRequests.get(headers)
}

/** Sender and original URL of a request in a route handler. */
export interface Peer extends Pick<Mount, 'remote_address' | 'closing'> {
  /** URL as sent by the client. */
  url: string | null
}

export function readPeer(headers: Headers): Peer {
  const [remote_address, url, index] = headers.get(PEER_HEADER)?.split(' ') ?? []
  const server = servers[Number(index)]
  return {
    remote_address: remote_address || null,
    url: url ?? null,
    ...(server && { closing: () => !server.deref()?.listening }),
  }
}

/** Usually one or two entries per process. The reference to a closed server is empty. */
const servers: WeakRef<Server>[] = []
const serverIndexes = new WeakMap<Server, number>()

function serverIndex(server: Server): number {
  const index = serverIndexes.get(server) ?? servers.push(new WeakRef(server)) - 1
  serverIndexes.set(server, index)
  return index
}
