import type { ServerResponse } from 'node:http'
import { markStart } from '../capture/facts/request-facts.js'
import type { Mount } from '../dashboard/mount.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'
import { answer, type HostRequest, mountOf, strippedPrefix } from './bridge.js'
import { failsRequest, recordRequestError } from './request-details.js'
import { watchStream } from './sent-streams.js'

/** What is used of Fastify's request. */
export interface FastifyRequestLike {
  /** Of HTTP/1 or HTTP/2. */
  raw: object
  ip: string
  socket: { remoteAddress?: string | undefined }
  url: string
  originalUrl: string
  routeOptions: { url?: string | undefined }
}

/** What is used of its reply. */
export interface FastifyReplyLike {
  raw: object
  hijack(): unknown
  callNotFound(): unknown
  send(payload?: unknown): unknown
}

type Done = (error?: Error) => void

/** What is used of its instance. */
export interface FastifyLike {
  prefix: string
  addHook(name: 'onRequest', hook: (request: FastifyRequestLike, reply: FastifyReplyLike, done: Done) => void): unknown
  addHook(
    name: 'onError',
    hook: (request: FastifyRequestLike, reply: FastifyReplyLike, error: Error, done: () => void) => void,
  ): unknown
  all(
    path: string,
    options: { schema: object },
    handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => void,
  ): unknown
}

export interface FaultboardOptions {
  tracker?: TrackerInstance
  prefix?: string
}

/**
 * The dashboard at `mount_path` (default /error_dashboard), below the prefix it was registered with, and a record of
 * what handlers and hooks throw or send as an error. Registered first, it sees the whole application; hooks that were
 * added before it also guard the dashboard. Starts the tracker.
 *
 * @example
 * app.register(faultboard)
 */
export const faultboard = Object.assign(plugin, {
  // Without a context of its own, so that its hooks are the application's.
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: 'faultboard',
  [Symbol.for('plugin-meta')]: { name: 'faultboard', fastify: '5.x' },
})

function plugin(app: FastifyLike, { tracker = Tracker, prefix = '' }: FaultboardOptions, done: Done): void {
  const { mount_path } = tracker.start().config
  const below = `${prefix}${mount_path}`
  const outer = `${app.prefix}${prefix}`

  app.addHook('onRequest', (request, reply, next) => {
    const mount = mountIn(request, mount_path, outer)
    if (!mount) {
      markStart(request.raw)
      // For an answer that fails while it is sent. An onSend hook would cost every answer more than all the rest here.
      ;(reply.raw as ServerResponse).on('pipe', (sent) =>
        watchStream(sent, (error) => record(tracker, error, request, false)),
      )
      return next()
    }
    // Past parsers, serialisers and onSend hooks, which are made for the host's own answers.
    reply.hijack()
    void answer(tracker, mount, request.raw as HostRequest, reply.raw as ServerResponse)
  })

  app.addHook('onError', (request, reply, error, next) => {
    try {
      record(tracker, error, request, failsRequest(error, reply.raw as ServerResponse))
      watchErrorHandler(tracker, error, request, reply)
    } catch {
      // Stack overflow: the error handlers of the host must still be called.
    }
    next()
  })

  // Hooks of an inner context see nothing but its routes.
  if (app.prefix !== '') {
    const other = (_request: FastifyRequestLike, reply: FastifyReplyLike) => void reply.callNotFound()
    for (const path of [below, `${below}/*`]) app.all(path, { schema: { hide: true } }, other)
  }
  done()
}

/** Below the prefix of its plugin, and below what `rewriteUrl` has taken from the front. */
function mountIn(request: FastifyRequestLike, mount_path: string, outer: string): Mount | null {
  const { originalUrl, url } = request
  if (!originalUrl.includes(mount_path)) return null
  return mountOf(request, mount_path, `${strippedPrefix(originalUrl, url)}${outer}`)
}

function record(tracker: TrackerInstance, error: unknown, request: FastifyRequestLike, request_failed: boolean): void {
  const facts = { source: 'fastify', request_failed, request: { route: request.routeOptions.url } }
  recordRequestError(tracker, error, request as unknown as HostRequest, facts, request.raw)
}

/**
 * Fastify runs no hook for what an error handler throws: it sends it, to the handler above. An error that names the
 * first as its cause is the same one, better dressed.
 */
function watchErrorHandler(
  tracker: TrackerInstance,
  first: unknown,
  request: FastifyRequestLike,
  reply: FastifyReplyLike,
): void {
  const { send } = reply
  reply.send = function (payload) {
    if (payload instanceof Error && payload !== first && payload.cause !== first) {
      record(tracker, payload, request, failsRequest(payload, reply.raw as ServerResponse))
    }
    return send.call(this, payload)
  }
}
