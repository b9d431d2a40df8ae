import type { IncomingMessage, ServerResponse } from 'node:http'
import { markStart } from '../capture/facts/request-facts.js'
import type { Mount } from '../dashboard/mount.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'
import { answer, type HostRequest, mountOf, patternPrefix, strippedPrefix } from './bridge.js'
import { recordRequestError } from './request-details.js'

/** The part of Koa's context that is used. */
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
interface Extended {
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
  const { mount_path } = tracker.start().config
  const record = (ctx: KoaContext, error: unknown) => recordKoaError(tracker, ctx, error)

  /** Koa calls this for errors that no middleware sees: a stream that fails while it is sent, an outer middleware. */
  function onerror(this: KoaContext, error: Error): void {
    if (error !== null && error !== undefined) {
      if (isOfConnection(error) && this.headerSent) tracker.drop('client_gone')
      else record(this, error)
    }
    Object.getPrototypeOf(this).onerror.call(this, error)
  }

  return async (ctx: KoaContext, next: () => Promise<unknown>): Promise<void> => {
    const mount = mountIn(ctx, mount_path)
    if (mount) {
      ctx.respond = false
      return answer(tracker, mount, ctx.req, ctx.res, (ctx as Extended).request.body)
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

function mountIn(ctx: KoaContext, mount_path: string): Mount | null {
  const address = (ctx.req as HostRequest).originalUrl ?? ctx.originalUrl
  if (!address.includes(mount_path)) return null
  const { ip, req } = ctx
  return mountOf({ originalUrl: address, ip, socket: req.socket }, mount_path, prefixOf(ctx, address, mount_path))
}

/** Prefix removed by koa-mount, or matched by the pattern of @koa/router before the mount point. */
function prefixOf(ctx: KoaContext, address: string, mount_path: string): string {
  const { routerPath } = ctx as Extended
  if (address !== ctx.url) return strippedPrefix(address, ctx.url)
  if (typeof routerPath !== 'string' || !routerPath.includes(mount_path)) return ''
  return patternPrefix(address, routerPath, mount_path)
}

function recordKoaError(tracker: TrackerInstance, ctx: KoaContext, error: unknown): void {
  const { params, _matchedRoute } = ctx as Extended
  // Koa's request has nearly everything. The session is not read, because reading can create it.
  const request = Object.assign(Object.create(ctx.request), { params, state: ctx.state }) as HostRequest
  const route = typeof _matchedRoute === 'string' ? { route: _matchedRoute } : {}
  const more = { source: 'koa', request_failed: !ctx.headerSent, request: route }
  recordRequestError(tracker, error, request, more, ctx.req)
}

const CONNECTION_CODES: readonly unknown[] = ['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE']

function isOfConnection(error: Error): boolean {
  try {
    return CONNECTION_CODES.includes((error as { code?: unknown }).code)
  } catch {
    // A getter of the host failed. Throwing here would replace the host's own error.
    return false
  }
}
