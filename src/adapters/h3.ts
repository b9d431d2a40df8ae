import type { IncomingMessage, ServerResponse } from 'node:http'
import { finished } from 'node:stream/promises'
import { markStart } from '../capture/facts/request-facts.js'
import type { Mount } from '../dashboard/mount.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'
import {
  findMount,
  type HostRequest,
  serveDashboard,
  serveWebRequest,
  strippedPrefix,
  withoutOrigin,
} from './bridge.js'
import { recordWebRequestError } from './request-details.js'
import { watchStream } from './sent-streams.js'
import { startDashboard } from './start-dashboard.js'

/** Subset of an h3 event that the adapter uses. */
export interface H3EventLike {
  req: Request & { ip?: string | undefined }
  url: URL
  context: object
  runtime?: { node?: { req: unknown; res?: unknown } | undefined } | undefined
}

/** Subset of the h3 application that the adapter uses. */
export interface H3Like {
  readonly config: { onError?: (error: never, event: never) => unknown }
  use(middleware: (event: H3EventLike, next: () => unknown) => unknown): unknown
}

interface EventContext {
  params?: unknown
  matchedRoute?: { route?: string }
  user?: unknown
  auth?: unknown
}

/** Internal signals of h3, which are not errors. */
const H3_SIGNALS: readonly unknown[] = [Symbol.for('h3.handled'), Symbol.for('h3.notFound')]

/**
 * Plugin that serves the dashboard at `mount_path` (default /error_dashboard), below the base of the application. Records
 * errors that later handlers and middleware throw, reject or return. Register it first. Starts the tracker.
 * @example const app = new H3().register(faultboard())
 */
export function faultboard(tracker: TrackerInstance = Tracker) {
  const { mount_path } = startDashboard(tracker, 'h3')
  return (app: H3Like): void => {
    app.use((event, next) => {
      const mount = dashboardMount(event, mount_path)
      if (mount) return dashboard(tracker, { ...mount, host_request: event }, event)
      markStart(event.req)
      return recordFailures(tracker, event, next)
    })
    watchErrorHandler(app, tracker)
  }
}

/** Records errors from the host, and passes results and errors on unchanged. */
function recordFailures(tracker: TrackerInstance, event: H3EventLike, next: () => unknown): unknown {
  let result: unknown
  try {
    result = next()
  } catch (error) {
    record(tracker, error, event)
    throw error
  }
  if (!(result instanceof Promise)) return checkResult(tracker, event, result)
  return result.then(
    (value) => checkResult(tracker, event, value),
    (error) => {
      record(tracker, error, event)
      throw error
    },
  )
}

/** h3 treats a returned error like a thrown error. */
function checkResult(tracker: TrackerInstance, event: H3EventLike, value: unknown): unknown {
  if (value instanceof Error) record(tracker, value, event)
  else if (typeof value === 'object') watchStream(value, (error) => record(tracker, error, event, false))
  return value
}

type ErrorHandler = (error: { unhandled?: boolean; cause?: unknown }, event: H3EventLike) => unknown

/**
 * Wraps the host's error handler, which can itself fail. It receives errors that no middleware sees, such as a value that
 * cannot be sent. Adds no handler if the host has none, because h3 would then log every error twice.
 */
function watchErrorHandler({ config }: H3Like, tracker: TrackerInstance): void {
  const hostHandler = config.onError as ErrorHandler | undefined
  if (!hostHandler) return
  const recordingHandler: ErrorHandler = async (error, event) => {
    if (error.unhandled) record(tracker, error.cause, event)
    try {
      return await hostHandler.call(config, error, event)
    } catch (thrown) {
      record(tracker, thrown, event)
      throw thrown
    }
  }
  config.onError = recordingHandler
}

function dashboardMount(event: H3EventLike, mount_path: string): Mount | null {
  const request = nodeRequestAndResponse(event)?.req
  // The Node.js request has the path as it was sent; the event normalizes it.
  const url = request ? (request.originalUrl ?? request.url ?? '/') : withoutOrigin(event.req.url)
  if (!url.includes(mount_path)) return null
  const prefix = strippedPrefix(url, event.url.pathname)
  return findMount(request ?? { originalUrl: url, ip: event.req.ip }, mount_path, prefix)
}

async function dashboard(tracker: TrackerInstance, mount: Mount, event: H3EventLike): Promise<unknown> {
  const node = nodeRequestAndResponse(event)
  if (!node?.res) return serveWebRequest(tracker, mount, event.req)
  // Written directly to Node.js, so that no header set by the host replaces ours.
  await serveDashboard(tracker, mount, node.req, node.res)
  // Waits because a compressing host is still writing, and h3 would send its own headers.
  await finished(node.res).catch(() => {})
  return H3_SIGNALS[0]
}

function record(tracker: TrackerInstance, error: unknown, event: H3EventLike, request_failed = true): void {
  if (H3_SIGNALS.includes(error)) return
  // h3 treats a thrown number as a status.
  if (typeof error === 'number' && error >= 400 && error < 500) {
    tracker.drop('client_error')
    return
  }
  const { params, matchedRoute, user, auth } = event.context as EventContext
  const node = nodeRequestAndResponse(event)
  const request = {
    route: matchedRoute?.route,
    params,
    user: user ?? auth,
    host: event,
    remote_address: node?.req.socket?.remoteAddress ?? event.req.ip,
  }
  recordWebRequestError(tracker, error, event.req, { source: 'h3', request_failed, request }, node?.req ?? event.req)
}

function nodeRequestAndResponse(
  event: H3EventLike,
): { req: IncomingMessage & HostRequest; res?: ServerResponse } | undefined {
  return event.runtime?.node as ReturnType<typeof nodeRequestAndResponse>
}
