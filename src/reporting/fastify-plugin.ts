import type { ServerResponse } from 'node:http'
import type { HostRequest } from '../capture/facts/request-facts.js'
import type { Answering } from './arrival.js'
import { answerNode } from './node-exchange.js'

/** What is used of Fastify's request. */
interface RequestLike {
  raw: object
  ip: string
}

/** What is used of its reply. */
interface ReplyLike {
  raw: object
  hijack(): unknown
}

/** What is used of its instance. */
interface FastifyLike {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(type: string, parser: (request: RequestLike, payload: unknown, done: Parsed) => void): unknown
  all(path: string, options: { schema: object }, handler: (request: RequestLike, reply: ReplyLike) => void): unknown
}

type Parsed = (error: Error | null, body?: unknown) => void

/**
 * A plugin with a context of its own: hooks of the host that were added before it guard it, and its own reading of
 * bodies, with its own limits and answers, is nobody else's.
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
