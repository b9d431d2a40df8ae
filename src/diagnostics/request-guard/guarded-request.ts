import { type HostRequest, matchedRoutePath, requestClientAddress } from '../../capture/facts/request-facts.js'
import type { Options } from '../../config/options.js'

/** Client address and path of a request, as far as they are known. */
export interface GuardedRequest {
  ip_address: string | undefined
  /** The pattern of the route, if the framework provides it. */
  route: string | undefined
  url: string | undefined
}

/** Properties in which frameworks keep the Node.js request: Fastify `raw`, Koa `req`, Hono `req.raw` and `env.incoming`. */
interface AnyRequest {
  headers?: unknown
  socket?: unknown
  raw?: unknown
  req?: unknown
  env?: { incoming?: unknown }
  originalUrl?: unknown
  url?: unknown
  routeOptions?: { url?: unknown }
  _matchedRoute?: unknown
}

/** Reads the request of any framework. A standard `Request` has no client address. */
export function guardedRequest(request: object, options: Pick<Options, 'trusted_proxies'>): GuardedRequest {
  const candidate = request as AnyRequest
  const connected = [candidate, candidate.env?.incoming, candidate.raw, candidate.req].find(isConnected)
  const inner = asRequest(candidate.req) ?? asRequest(candidate.raw)
  return {
    ip_address: connected ? requestClientAddress(connected, options) : undefined,
    route:
      asText(candidate.routeOptions?.url) ??
      asText(candidate._matchedRoute) ??
      matchedRoutePath(candidate as HostRequest),
    url: [candidate.originalUrl, candidate.url, inner?.originalUrl, inner?.url, connected?.url]
      .map(asText)
      .find(Boolean),
  }
}

function isConnected(value: unknown): value is HostRequest {
  return isObject(value) && isObject((value as AnyRequest).socket) && isObject((value as AnyRequest).headers)
}

function asRequest(value: unknown): AnyRequest | undefined {
  return isObject(value) ? (value as AnyRequest) : undefined
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
