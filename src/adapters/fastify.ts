import type { ServerResponse } from 'node:http'
import { markStart } from '../capture/facts/request-facts.js'
import { OLDEST_SUPPORTED } from '../config/supported-packages.js'
import type { Mount } from '../dashboard/mount.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'
import { findMount, type HostRequest, serveDashboard, strippedPrefix } from './bridge.js'
import { failsRequest, recordRequestError } from './request-details.js'
import { watchStream } from './sent-streams.js'
import { startDashboard } from './start-dashboard.js'

/** Subset of Fastify's request that the adapter uses. */
export interface FastifyRequestLike {
  /** Node.js request, over HTTP/1 or HTTP/2. */
  raw: object
  ip: string
  socket: { remoteAddress?: string | undefined }
  url: string
  originalUrl: string
  routeOptions: { url?: string | undefined }
}

/** Subset of Fastify's reply that the adapter uses. */
export interface FastifyReplyLike {
  raw: object
  hijack(): unknown
  callNotFound(): unknown
  send(payload?: unknown): unknown
}

type Done = (error?: Error) => void

/** Subset of the Fastify instance that the adapter uses. */
export interface FastifyLike {
  prefix: string
  server: object
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
 * Serves the dashboard at `mount_path` (default /error_dashboard), below the plugin's prefix, and records errors
 * thrown or sent by handlers and hooks. Register it first to cover the whole application; hooks added before it also
 * guard the dashboard. Starts the tracker.
 * @example app.register(faultboard)
 */
export const faultboard = Object.assign(plugin, {
  // Disables encapsulation, so that the plugin's hooks apply to the whole application.
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: 'faultboard',
  [Symbol.for('plugin-meta')]: { name: 'faultboard', fastify: `>=${OLDEST_SUPPORTED.fastify}` },
})

function plugin(app: FastifyLike, { tracker = Tracker, prefix = '' }: FaultboardOptions, done: Done): void {
  const { mount_path, enabled } = startDashboard(tracker, null, (server) =>
    server === app.server ? `${app.prefix}${prefix}` : null,
  )
  if (enabled) addHooks(app, tracker, mount_path, prefix)
  done()
}

function addHooks(app: FastifyLike, tracker: TrackerInstance, mount_path: string, prefix: string): void {
  const dashboardPath = `${prefix}${mount_path}`
  const outerPrefix = `${app.prefix}${prefix}`

  app.addHook('onRequest', (request, reply, next) => {
    const mount = dashboardMount(request, mount_path, outerPrefix)
    if (!mount) {
      markStart(request.raw)
      // Detects a response that fails while it is sent. An onSend hook would slow down every response.
      ;(reply.raw as ServerResponse).on('pipe', (stream) =>
        watchStream(stream, (error) => record(tracker, error, request, false)),
      )
      return next()
    }
    // Bypasses parsers, serializers and onSend hooks, which are meant for the host's own responses.
    reply.hijack()
    void serveDashboard(
      tracker,
      { ...mount, host_request: request },
      request.raw as HostRequest,
      reply.raw as ServerResponse,
    )
  })

  app.addHook('onError', (request, reply, error, next) => {
    try {
      record(tracker, error, request, failsRequest(error, reply.raw as ServerResponse))
      watchErrorHandler(tracker, error, request, reply)
    } catch {
      // Stack overflow: the host's error handlers must still be called.
    }
    next()
  })

  // Hooks in an inner context only run for its own routes.
  if (!isRoot(app)) {
    const notFound = (_request: FastifyRequestLike, reply: FastifyReplyLike) => void reply.callNotFound()
    for (const path of [dashboardPath, `${dashboardPath}/*`]) app.all(path, { schema: { hide: true } }, notFound)
  }
}

/** Fastify creates the instance of an inner context from the outer instance, with or without a prefix. */
function isRoot(app: FastifyLike): boolean {
  return Object.getPrototypeOf(app) === Object.prototype
}

/** Mount point of the dashboard, below the plugin's prefix and any prefix that `rewriteUrl` removed. */
function dashboardMount(request: FastifyRequestLike, mount_path: string, outerPrefix: string): Mount | null {
  // Not `request.originalUrl`: Fastify's getter caches its result, which would add a property to every request.
  const { originalUrl, url = '/' } = request.raw as HostRequest
  if (!(originalUrl || url).includes(mount_path)) return null
  return findMount(request, mount_path, `${strippedPrefix(originalUrl || url, url)}${outerPrefix}`)
}

function record(tracker: TrackerInstance, error: unknown, request: FastifyRequestLike, request_failed: boolean): void {
  const facts = { source: 'fastify', request_failed, request: { route: request.routeOptions.url } }
  recordRequestError(tracker, error, request as unknown as HostRequest, facts, request.raw)
}

/**
 * Fastify runs no hook for errors thrown by an error handler: it passes them to the outer handler. An error whose cause
 * is the first error counts as the same error.
 */
function watchErrorHandler(
  tracker: TrackerInstance,
  originalError: unknown,
  request: FastifyRequestLike,
  reply: FastifyReplyLike,
): void {
  const { send } = reply
  reply.send = function (payload) {
    if (payload instanceof Error && payload !== originalError && payload.cause !== originalError) {
      record(tracker, payload, request, failsRequest(payload, reply.raw as ServerResponse))
    }
    return send.call(this, payload)
  }
}
