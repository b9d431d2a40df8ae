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

/** A route handler only receives a copy of the headers. The random name cannot be forged by clients. */
const PEER_HEADER = `x-faultboard-${randomBytes(16).toString('hex')}`

const REQUEST_START = 'http.server.request.start'

/**
 * Tracks requests by their headers object, the only object that Next.js passes on unchanged. Returns the function that
 * stops it.
 */
export function followRequests(mount_path: string): () => void {
  const onRequest = (message: unknown) => {
    const { request, server } = message as { request: HostRequest; server: Server }
    const url = request.url ?? '/'
    markStart(request)
    receivedRequests.set(request.headers, { request, url })
    if (!url.includes(mount_path)) return
    request.headers[PEER_HEADER] = `${request.socket.remoteAddress ?? ''} ${url} ${serverNumber(server)}`
  }
  subscribe(REQUEST_START, onRequest)
  return () => unsubscribe(REQUEST_START, onRequest)
}

export function findReceived(headers: object): ReceivedRequest | undefined {
  return receivedRequests.get(headers)
}

/** Origin of the request of a route handler. */
export interface Peer extends Pick<Mount, 'remote_address' | 'closing'> {
  /** As it was sent. */
  url: string | null
}

export function readPeer(headers: Headers): Peer {
  const [remote_address, url, number] = headers.get(PEER_HEADER)?.split(' ') ?? []
  const server = servers[Number(number)]
  return {
    remote_address: remote_address || null,
    url: url ?? null,
    ...(server && { closing: () => !server.deref()?.listening }),
  }
}

/** A process has one or two servers; a closed one leaves an empty reference. */
const servers: WeakRef<Server>[] = []
const serverNumbers = new WeakMap<Server, number>()

function serverNumber(server: Server): number {
  const number = serverNumbers.get(server) ?? servers.push(new WeakRef(server)) - 1
  serverNumbers.set(server, number)
  return number
}
