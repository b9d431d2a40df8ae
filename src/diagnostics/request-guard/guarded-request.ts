import { clientAddressOf, type HostRequest, routeOf } from '../../capture/facts/request-facts.js'
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
  const given = request as AnyRequest
  const known = [given, given.env?.incoming, given.raw, given.req].find(isConnected)
  const inner = asRequest(given.req) ?? asRequest(given.raw)
  return {
    ip_address: known ? clientAddressOf(known, options) : undefined,
    route: textOf(given.routeOptions?.url) ?? textOf(given._matchedRoute) ?? routeOf(given as HostRequest),
    url: [given.originalUrl, given.url, inner?.originalUrl, inner?.url, known?.url].map(textOf).find(Boolean),
  }
}

function isConnected(one: unknown): one is HostRequest {
  return isObject(one) && isObject((one as AnyRequest).socket) && isObject((one as AnyRequest).headers)
}

function asRequest(one: unknown): AnyRequest | undefined {
  return isObject(one) ? (one as AnyRequest) : undefined
}

function isObject(one: unknown): one is object {
  return typeof one === 'object' && one !== null
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
