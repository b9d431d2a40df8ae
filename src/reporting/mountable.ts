import type { IncomingMessage, ServerResponse } from 'node:http'
import { readPeer } from '../adapters/next-requests.js'
import type { HostRequest } from '../capture/facts/request-facts.js'
import { fastifyPlugin } from './fastify-plugin.js'
import type { Endpoint } from './http.js'
import { serveNode } from './node-exchange.js'

/** Subset of Koa's context. */
export interface KoaLike {
  req: IncomingMessage
  res: ServerResponse
  request: object
  ip: string
  respond?: boolean | undefined
}

/** Subset of Hono's context. */
export interface HonoLike {
  req: { raw: Request; bodyCache: object; text(): Promise<string> }
  env: unknown
}

/** Endpoint with a handler for each framework. Handles all requests at its mount point. */
export interface Mountable {
  /**
   * Handles a standard Request, for other hosts.
   * @example Deno.serve((request, { remoteAddr }) => reporting.handle(request, { remote_address: remoteAddr.hostname
   * }))
   */
  handle(
    request: Request,
    from?: { remote_address?: string | null; remoteAddress?: string | null; host?: object },
  ): Promise<Response>
  /** `app.all('/client_errors', reporting.express)`, and in a Nest controller `reporting.nest(request, response)`. */
  express(request: IncomingMessage, response: ServerResponse, nextRoute?: unknown): Promise<void>
  /** `if (request.url === '/client_errors') return reporting.node(request, response)` */
  node(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Takes the arguments of `@Req()` and `@Res()` in a controller, on Express or Fastify. */
  nest(request: object, response: object): Promise<void>
  /** `router.all('/client_errors', reporting.koa)` */
  koa(context: KoaLike): Promise<void>
  /** `app.all('/client_errors', reporting.hono)` */
  hono(context: HonoLike): Promise<Response>
  /** `app.register(reporting.fastify, { prefix: '/client_errors' })` */
  readonly fastify: ReturnType<typeof fastifyPlugin>
  /** Next.js route handler: `export const { POST, OPTIONS } = reportingEndpoint()` */
  POST(request: Request): Promise<Response>
  OPTIONS(request: Request): Promise<Response>
}

export function mountable(endpoint: Endpoint): Mountable {
  const express: Mountable['express'] = (request, response) => serveNode(endpoint, request as HostRequest, response)
  const nextRoute = (request: Request) => {
    const { remote_address } = readPeer(request.headers)
    return endpoint(request, { remote_address, host: request })
  }
  return {
    handle: (request, { remoteAddress = null, remote_address = remoteAddress, host = request } = {}) =>
      endpoint(request, { remote_address, host }),
    express,
    node: (request, response) => express(request, response),
    nest: (request, response) => serveNest(endpoint, request as NestRequest, response as NestResponse),
    koa(context) {
      context.respond = false
      const { body: parsed } = context.request as { body?: unknown }
      return serveNode(endpoint, context.req as HostRequest, context.res, { host: context, ip: context.ip, parsed })
    },
    hono: (context) => serveHono(endpoint, context),
    fastify: fastifyPlugin(endpoint),
    POST: nextRoute,
    OPTIONS: nextRoute,
  }
}

type NestRequest = HostRequest & { raw?: HostRequest; ip?: unknown; body?: unknown }
type NestResponse = ServerResponse & { raw?: ServerResponse; hijack?(): unknown }

/** Handles both adapters of Nest. With Fastify, Nest passes Fastify's own request and reply. */
function serveNest(endpoint: Endpoint, request: NestRequest, response: NestResponse): Promise<void> {
  if (!request.raw || !response.raw) return serveNode(endpoint, request, response)
  response.hijack?.()
  const source = { host: request, ip: request.ip, parsed: request.body }
  return serveNode(endpoint, request.raw, response.raw, source)
}

/** Bindings that @hono/node-server puts into `c.env`. */
interface NodeBindings {
  incoming?: IncomingMessage
}

async function serveHono(endpoint: Endpoint, context: HonoLike): Promise<Response> {
  const { raw, bodyCache } = context.req
  const { incoming } = Object(context.env) as NodeBindings
  const remote_address = incoming?.socket?.remoteAddress ?? null
  // Middleware of the host may have read the body; Hono caches it.
  const isRead = Object.keys(bodyCache).length > 0
  const parsed = isRead ? await context.req.text().catch(() => undefined) : undefined
  return endpoint(raw, { remote_address, host: context, ...(isRead && { parsed }) })
}
