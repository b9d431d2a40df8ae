import type { ServerResponse } from 'node:http'
import type { HostRequest } from '../capture/facts/request-facts.js'
import type { Endpoint } from './http.js'
import { serveNode } from './node-exchange.js'

/** Subset of Fastify's request. */
interface RequestLike {
  raw: object
  ip: string
}

/** Subset of Fastify's reply. */
interface ReplyLike {
  raw: object
  hijack(): unknown
}

/** Subset of the Fastify instance. */
interface FastifyLike {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(type: string, parser: (request: RequestLike, payload: unknown, done: ParseDone) => void): unknown
  all(path: string, options: { schema: object }, handler: (request: RequestLike, reply: ReplyLike) => void): unknown
}

type ParseDone = (error: Error | null, body?: unknown) => void

/**
 * Plugin with its own context. Hooks that the host added earlier also guard the endpoint. The endpoint's body parsing,
 * limits and responses affect no other route.
 */
export function fastifyPlugin(endpoint: Endpoint) {
  return (app: FastifyLike, _options: { prefix?: string }, done: (error?: Error) => void): void => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, onParsed) => onParsed(null, undefined))
    const handler = (request: RequestLike, reply: ReplyLike) => {
      reply.hijack()
      const source = { host: request, ip: request.ip }
      void serveNode(endpoint, request.raw as HostRequest, reply.raw as ServerResponse, source)
    }
    for (const path of ['/', '/*']) app.all(path, { schema: { hide: true } }, handler)
    done()
  }
}
