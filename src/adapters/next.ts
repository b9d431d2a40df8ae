import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'
import type { HostRequest } from './bridge.js'
import { findReceivedRequest, type ReceivedRequest, trackRequests } from './next-requests.js'
import { recordRequestError } from './request-details.js'
import { startDashboard } from './start-dashboard.js'

export { dashboard, pagesDashboard } from './next-dashboard.js'

/** Request data that Next.js passes to `onRequestError`. */
export interface NextErrorRequest {
  readonly path: string
  readonly method: string
  readonly headers: NodeJS.Dict<string | string[]>
}

/** Location data that Next.js passes to `onRequestError`. */
export interface NextErrorContext {
  readonly routerKind: string
  readonly routePath: string
  readonly routeType: string
  readonly renderSource?: string | undefined
}

/**
 * Starts the tracker with the server, so that configuration mistakes are reported immediately.
 * @example
 * // instrumentation.ts, where the options come from environment variables
 * export { onRequestError, register } from 'faultboard/next'
 */
export function register(tracker: TrackerInstance = Tracker): void {
  // A build evaluates the application too, and must not open a database.
  if (process.env.NEXT_PHASE === 'phase-production-build') return
  const { mount_path } = startDashboard(tracker, 'next')
  tracker.attach(() => trackRequests(mount_path))
}

/** Records errors thrown by route handlers, server components, server actions, pages and API routes. */
export const onRequestError = captureRequestError()

/**
 * Creates `onRequestError` for a tracker other than the default tracker.
 * @example export const onRequestError = captureRequestError(tracker)
 */
export function captureRequestError(tracker: TrackerInstance = Tracker) {
  return (error: unknown, request: NextErrorRequest, context: NextErrorContext): void => {
    const { routerKind, routePath, routeType, renderSource } = context
    const details = {
      source: 'next',
      // Next.js responds to every error with 500, whatever status the error contains.
      unhandled: true,
      request: { route: routePath },
      context: { router: routerKind, route_type: routeType, ...(renderSource && { render_source: renderSource }) },
    }
    const received = findReceivedRequest(request.headers)
    if (received) recordRequestError(tracker, error, withOriginalUrl(received), details, received.request)
    else recordRequestError(tracker, error, minimalRequest(request), details, request.headers)
  }
}

type ApiHandler<Req, Res> = (request: Req, response: Res) => unknown

/**
 * Wraps an API route of the Pages Router, for apps without `onRequestError`. Records errors and rethrows them
 * unchanged.
 * @example export default withFaultboard(async (request, response) => response.json(await orders()))
 */
export function withFaultboard<Req extends HostRequest, Res>(
  handler: ApiHandler<Req, Res>,
  tracker: TrackerInstance = Tracker,
): (request: Req, response: Res) => Promise<unknown> {
  return async (request, response) => {
    try {
      return await handler(request, response)
    } catch (error) {
      recordRequestError(tracker, error, request, { source: 'next', unhandled: true })
      throw error
    }
  }
}

/** Fallback if Next.js does not run on a Node.js server: only the data passed by Next.js is available. */
function minimalRequest({ path, method, headers }: NextErrorRequest): HostRequest {
  return { method, headers, url: path } as HostRequest
}

/** The request with its original URL, otherwise unchanged. */
function withOriginalUrl({ request, url }: ReceivedRequest): HostRequest {
  return Object.create(request, { originalUrl: { value: url } })
}
