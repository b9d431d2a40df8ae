import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { Options } from '../../config/options.js'
import { clientAddress } from '../../model/requests/client-address.js'
import { safeHeaders } from '../../model/requests/request-headers.js'
import type { LogErrorInput, RequestFacts } from '../fields.js'
import { findUserId } from './user.js'

/** Properties that a framework may have added to the request. */
export type HostRequest = IncomingMessage & {
  originalUrl?: string
  baseUrl?: string
  body?: unknown
  rawBody?: unknown
  ip?: unknown
  protocol?: unknown
  query?: unknown
  params?: unknown
  route?: unknown
}

type FactsOptions = Pick<Options, 'trusted_proxies' | 'user_callback'>

const STARTED = Symbol('faultboard.started')

interface StartMark {
  [STARTED]?: number
}

/** The part of a request needed to mark its start: a Node.js request or a standard Request. */
export interface StartedRequest {
  httpVersionMajor?: number
  socket?: object | null
}

/**
 * Marks the start of a request on its connection, which serves one request at a time. A new property on every request
 * would cost a hundred times as much, because it slows down the framework's property access.
 */
export function markStart(request: StartedRequest | Request): void {
  const { httpVersionMajor, socket } = request as StartedRequest
  const holder = httpVersionMajor === 1 && socket ? socket : request
  ;(holder as StartMark)[STARTED] = performance.now()
}

const FACT_NAMES = ['request_url', 'request_params', 'ip_address', 'user_agent', 'user_id', 'request'] as const

/** Fields of a report that describe its request. Fields that the request lacks are set to undefined. */
type ReportedRequest = Pick<LogErrorInput, (typeof FACT_NAMES)[number]>

/**
 * Checks whether the reporter has already read the request. A second read would run `user_callback` again for the same
 * error.
 */
export function hasRequestFacts(fields: LogErrorInput): boolean {
  return FACT_NAMES.every((name) => name in fields)
}

/** Facts about the request in which an error occurred. */
export function requestFacts(request: HostRequest, options: FactsOptions, details: RequestFacts = {}): ReportedRequest {
  const { headers } = request
  return {
    request_url: requestUrl(request),
    request_params: requestParameters(request),
    ip_address: requestClientAddress(request, options),
    user_agent: headers['user-agent'],
    request: {
      method: request.method,
      route: matchedRoutePath(request),
      headers: safeHeaders(headers),
      content_type: headers['content-type'],
      duration_ms: requestDuration(request),
      ...details,
    },
    // Read last, so that `user_callback` does not run for a request that cannot be read.
    user_id: findUserId(request, options.user_callback),
  }
}

/** Facts about a standard Request, for hosts without a Node.js request. */
export function webRequestFacts(
  request: Request,
  options: FactsOptions,
  { remote_address, params, user, host = request, ...details }: WebRequestDetails = {},
): ReportedRequest {
  const headers = Object.fromEntries(request.headers)
  return {
    request_url: request.url,
    request_params: requestParameters({ query: parseQuery(request.url), params }),
    ip_address: resolvePeerAddress(remote_address, headers, options) ?? undefined,
    user_agent: headers['user-agent'],
    request: {
      method: request.method,
      headers: safeHeaders(headers),
      content_type: headers['content-type'],
      duration_ms: requestDuration(request as { raw?: unknown }),
      ...details,
    },
    user_id: options.user_callback ? findUserId(host, options.user_callback) : findUserId({ user }, null),
  }
}

export interface WebRequestDetails extends RequestFacts {
  remote_address?: string | undefined
  /** Path parameters from the router. */
  params?: unknown
  /** User from the host's own authentication. */
  user?: unknown
  /** Object that the framework passes to its handlers, used as the argument of `user_callback`. */
  host?: object | undefined
}

function requestDuration(request: { raw?: unknown; req?: unknown; socket?: unknown }): number | undefined {
  const started = [request, request.raw, request.req, request.socket]
    .map((holder) => (typeof holder === 'object' && holder !== null ? (holder as StartMark)[STARTED] : undefined))
    .find((time) => time !== undefined)
  return started === undefined ? undefined : Math.round((performance.now() - started) * 10) / 10
}

/**
 * Uses the address of a framework with configured proxies (`trust proxy`), and otherwise the `trusted_proxies` option.
 */
export function requestClientAddress(
  request: HostRequest,
  options: Pick<Options, 'trusted_proxies'>,
): string | undefined {
  const peer = request.socket?.remoteAddress
  if (typeof request.ip === 'string' && request.ip !== peer && isIP(request.ip)) return request.ip
  return resolvePeerAddress(peer, request.headers, options) ?? undefined
}

function resolvePeerAddress(
  remote_address: string | undefined,
  headers: IncomingHttpHeaders,
  { trusted_proxies }: Pick<Options, 'trusted_proxies'>,
): string | null {
  const { 'x-forwarded-for': forwarded_for, forwarded } = headers
  return clientAddress(
    {
      remote_address,
      forwarded_for: Array.isArray(forwarded_for) ? forwarded_for.join(',') : forwarded_for,
      forwarded,
    },
    trusted_proxies,
  )
}

function requestUrl(request: HostRequest): string {
  const path = request.originalUrl ?? request.url ?? '/'
  const { host } = request.headers
  if (!host) return path
  const isEncrypted = (request.socket as { isEncrypted?: boolean } | undefined)?.isEncrypted
  const scheme = typeof request.protocol === 'string' ? request.protocol : isEncrypted ? 'https' : 'http'
  return `${scheme}://${host}${path}`
}

/** Express stores the route in `route.path`, Fastify in `routeOptions.url`, relative to the router. */
export function matchedRoutePath({ route, baseUrl }: HostRequest): string | undefined {
  const path = typeof route === 'object' && route !== null ? (route as { path?: unknown }).path : undefined
  return typeof path === 'string' ? `${baseUrl ?? ''}${path}` : undefined
}

function requestParameters({ query, params, body }: { query?: unknown; params?: unknown; body?: unknown }): unknown {
  const parts = Object.entries({ query, params, body }).filter(
    ([, part]) => typeof part === 'object' && part !== null && Object.keys(part).length > 0,
  )
  return parts.length > 0 ? Object.fromEntries(parts) : undefined
}

function parseQuery(url: string): Record<string, string> | undefined {
  const queryStart = url.indexOf('?')
  return queryStart < 0 ? undefined : Object.fromEntries(new URLSearchParams(url.slice(queryStart + 1)))
}
