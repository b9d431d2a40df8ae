import type { IncomingMessage, ServerResponse } from 'node:http'
import { markStart } from '../capture/facts/request-facts.js'
import type { Mount } from '../dashboard/mount.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'
import { findMount, type HostRequest, patternPrefix, serveDashboard, strippedPrefix } from './bridge.js'
import { recordRequestError } from './request-details.js'
import { startDashboard } from './start-dashboard.js'

/** Subset of Koa's context that the adapter uses. */
export interface KoaContext {
  req: IncomingMessage
  res: ServerResponse
  request: object
  originalUrl: string
  url: string
  ip: string
  headerSent: boolean
  respond?: boolean | undefined
  state: object
  onerror(error: Error): void
}

/** Properties added by routers and parsers. */
interface ExtendedContext {
  params?: unknown
  routerPath?: unknown
  _matchedRoute?: unknown
  request: { body?: unknown }
}

/**
 * Serves the dashboard at `mount_path` (default /error_dashboard), and records errors thrown by later middleware,
 * which are rethrown unchanged. Add it first, or after middleware that turns errors into responses. Starts the
 * tracker.
 * @example app.use(faultboard())
 */
export function faultboard(tracker: TrackerInstance = Tracker) {
  const { mount_path } = startDashboard(tracker, 'koa')
  const record = (ctx: KoaContext, error: unknown) => recordKoaError(tracker, ctx, error)

  /** Called by Koa for errors outside of inner middleware: a stream that fails while it is sent, or an outer middleware. */
  function onerror(this: KoaContext, error: Error): void {
    if (error !== null && error !== undefined) {
      if (isConnectionError(error) && this.headerSent) tracker.drop('client_gone')
      else record(this, error)
    }
    Object.getPrototypeOf(this).onerror.call(this, error)
  }

  return async (ctx: KoaContext, next: () => Promise<unknown>): Promise<void> => {
    const mount = dashboardMount(ctx, mount_path)
    if (mount) {
      ctx.respond = false
      const { body } = (ctx as ExtendedContext).request
      return serveDashboard(tracker, { ...mount, host_request: ctx }, ctx.req, ctx.res, body)
    }
    markStart(ctx.req)
    if (!Object.hasOwn(ctx, 'onerror')) ctx.onerror = onerror
    try {
      await next()
    } catch (error) {
      record(ctx, error)
      throw error
    }
  }
}

function dashboardMount(ctx: KoaContext, mount_path: string): Mount | null {
  const url = (ctx.req as HostRequest).originalUrl ?? ctx.originalUrl
  if (!url.includes(mount_path)) return null
  const { ip, req } = ctx
  return findMount({ originalUrl: url, ip, socket: req.socket }, mount_path, mountPrefix(ctx, url, mount_path))
}

/** Prefix removed by koa-mount, or matched by the pattern of @koa/router before the mount point. */
function mountPrefix(ctx: KoaContext, url: string, mount_path: string): string {
  const { routerPath } = ctx as ExtendedContext
  if (url !== ctx.url) return strippedPrefix(url, ctx.url)
  if (typeof routerPath !== 'string' || !routerPath.includes(mount_path)) return ''
  return patternPrefix(url, routerPath, mount_path)
}

function recordKoaError(tracker: TrackerInstance, ctx: KoaContext, error: unknown): void {
  const { params, _matchedRoute } = ctx as ExtendedContext
  // Extends Koa's request without reading the session, because reading can create it.
  const request = Object.assign(Object.create(ctx.request), { params, state: ctx.state }) as HostRequest
  const route = typeof _matchedRoute === 'string' ? { route: _matchedRoute } : {}
  const details = { source: 'koa', request_failed: !ctx.headerSent, request: route }
  recordRequestError(tracker, error, request, details, ctx.req)
}

const CONNECTION_CODES: readonly unknown[] = ['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE']

function isConnectionError(error: Error): boolean {
  try {
    return CONNECTION_CODES.includes((error as { code?: unknown }).code)
  } catch {
    // A host getter threw. Throwing here would replace the host's own error.
    return false
  }
}
