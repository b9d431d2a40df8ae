import type { ServerResponse } from 'node:http'
import type { HostRequest } from '../capture/facts/request-facts.js'
import type { Answering } from './arrival.js'
import { answerNode } from './node-exchange.js'

/** The part of Fastify's request that is used. */
interface RequestLike {
  raw: object
  ip: string
}

/** The part of Fastify's reply that is used. */
interface ReplyLike {
  raw: object
  hijack(): unknown
}

/** The part of the Fastify instance that is used. */
interface FastifyLike {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(type: string, parser: (request: RequestLike, payload: unknown, done: Parsed) => void): unknown
  all(path: string, options: { schema: object }, handler: (request: RequestLike, reply: ReplyLike) => void): unknown
}

type Parsed = (error: Error | null, body?: unknown) => void

/**
 * Plugin with its own context: hooks that the host added before guard it, and its body parsing, limits and responses
 * affect no other route.
 */
export function fastifyPlugin(answering: Answering) {
  return (app: FastifyLike, _options: { prefix?: string }, done: (error?: Error) => void): void => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null, undefined))
    const handler = (request: RequestLike, reply: ReplyLike) => {
      reply.hijack()
      const more = { host: request, ip: request.ip }
      void answerNode(answering, request.raw as HostRequest, reply.raw as ServerResponse, more)
    }
    for (const path of ['/', '/*']) app.all(path, { schema: { hide: true } }, handler)
    done()
  }
}
