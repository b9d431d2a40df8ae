import type { IncomingMessage, ServerResponse } from 'node:http'
import { markStart, type WebRequestDetails } from '../capture/facts/request-facts.js'
import type { Mount } from '../dashboard/mount.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'
import {
  encodeForm,
  findMount,
  type HostRequest,
  patternPrefix,
  serveDashboard,
  serveWebRequest,
  withoutOrigin,
} from './bridge.js'
import { recordWebRequestError } from './request-details.js'
import { startDashboard } from './start-dashboard.js'

/** Subset of Hono's context that the adapter uses. */
export interface HonoContext {
  req: {
    raw: Request
    routePath?: string | undefined
    bodyCache: object
    param(): unknown
    parseBody(options: { all: true }): Promise<object>
  }
  env: unknown
  error: Error | undefined
  res: { status: number }
  var: object
}

/** Bindings that @hono/node-server puts into `c.env`. */
interface NodeBindings {
  incoming?: IncomingMessage & HostRequest
  outgoing?: ServerResponse
}

/**
 * Serves the dashboard at `mount_path` (default /error_dashboard), below the base path of the application. Records errors
 * thrown by later handlers and middleware. Add it first. Starts the tracker.
 * @example app.use(faultboard())
 */
export function faultboard(tracker: TrackerInstance = Tracker) {
  const { mount_path } = startDashboard(tracker, 'hono')
  return async (c: HonoContext, next: () => Promise<void>): Promise<Response | undefined> => {
    const { raw } = c.req
    const mount = dashboardMount(c, mount_path)
    if (mount) return dashboard(tracker, { ...mount, host_request: c }, c)
    markStart(raw)
    try {
      await next()
    } catch (error) {
      recordThrown(tracker, error, c, raw)
      throw error
    }
    // The host's error handler has already responded.
    if (c.error) record(tracker, c.error, c, raw, c.res.status >= 500)
    return undefined
  }
}

function dashboardMount(c: HonoContext, mount_path: string): Mount | null {
  const { incoming } = nodeBindings(c)
  // The Node.js request has the path as it was sent; a Request normalizes it.
  const url = incoming ? (incoming.originalUrl ?? incoming.url ?? '/') : withoutOrigin(c.req.raw.url)
  if (!url.includes(mount_path)) return null
  const outerPrefix = incoming?.baseUrl ?? ''
  const prefix = `${outerPrefix}${patternPrefix(url.slice(outerPrefix.length), c.req.routePath ?? '*', mount_path)}`
  return findMount(incoming ?? { originalUrl: url }, mount_path, prefix)
}

async function dashboard(tracker: TrackerInstance, mount: Mount, c: HonoContext): Promise<Response> {
  const { raw, bodyCache } = c.req
  const { incoming, outgoing } = nodeBindings(c)
  const parsed = Object.keys(bodyCache).length > 0 ? await c.req.parseBody({ all: true }).catch(() => ({})) : undefined
  if (incoming && outgoing) {
    // Written directly to Node.js, so that no header of an outer middleware replaces ours.
    await serveDashboard(tracker, mount, incoming, outgoing, parsed)
    // Needed because @hono/node-server 2 ignores the header below for responses of its own class, which `serve` makes the
    // global `Response`. Its second write would throw and destroy the connection.
    outgoing.writeHead = () => outgoing
    return new Response(null, { headers: { 'x-hono-already-sent': 'true' } })
  }
  if (!parsed) return serveWebRequest(tracker, mount, raw)
  const { method, headers } = raw
  return serveWebRequest(tracker, mount, new Request(raw.url, { method, headers, body: encodeForm(parsed) }))
}

function record(tracker: TrackerInstance, error: unknown, c: HonoContext, raw: Request, request_failed = true): void {
  const details = { source: 'hono', request_failed, request: requestDetails(c) }
  recordWebRequestError(tracker, error, raw, details, nodeBindings(c).incoming ?? raw)
}

function requestDetails(c: HonoContext): WebRequestDetails {
  try {
    const { user, jwtPayload } = c.var as { user?: unknown; jwtPayload?: unknown }
    return {
      route: c.req.routePath,
      params: c.req.param(),
      user: user ?? jwtPayload,
      host: c,
      remote_address: nodeBindings(c).incoming?.socket?.remoteAddress,
    }
  } catch {
    // A host getter threw: record the error anyway.
    return {}
  }
}

/** Receives thrown non-errors and errors from the error handler, because Hono handles neither. */
function recordThrown(tracker: TrackerInstance, error: unknown, c: HonoContext, raw: Request): void {
  if (isRepeatedFailure(raw, error)) return
  if (c.error && !isSameError(error, c.error)) record(tracker, c.error, c, raw)
  record(tracker, error, c, raw)
}

const failedRequests = new WeakSet<Request>()

/** Returns true if the error handler already failed for this request: Hono calls it again in every outer middleware. */
function isRepeatedFailure(raw: Request, error: unknown): boolean {
  if (!isError(error)) return false
  if (failedRequests.has(raw)) return true
  failedRequests.add(raw)
  return false
}

function isSameError(error: unknown, earlier: Error): boolean {
  try {
    return error instanceof Error && error.message === earlier.message
  } catch {
    // A Proxy or a throwing getter must not replace the host's own error.
    return error === earlier
  }
}

function isError(value: unknown): boolean {
  try {
    return value instanceof Error
  } catch {
    // The comparison ran host code that threw.
    return false
  }
}

function nodeBindings({ env }: HonoContext): NodeBindings {
  return (env ?? {}) as NodeBindings
}
