import { markStart } from '../capture/facts/request-facts.js'
import { Tracker } from '../index.js'
import { checkOptionNames } from '../model/input/option-names.js'
import type { AnyCase } from '../model/input/spelling.js'
import type { TrackerInstance } from '../tracker.js'
import { findMount, serveWebRequest, withoutOrigin } from './bridge.js'
import { recordWebRequestError } from './request-details.js'
import { startDashboard } from './start-dashboard.js'

/** Data that a Request does not contain and that the host can add. */
export interface RequestDetails {
  /** Address of the client or of the last proxy, such as `getClientAddress()` in SvelteKit. */
  remote_address?: string | null | undefined
  remoteAddress?: string | null | undefined
  /** Pattern of the route, such as `/orders/[id]`. */
  route?: string | null | undefined
  /** Path parameters from the router. */
  params?: unknown
  /** User from the host's own authentication. */
  user?: unknown
}

/** Returns the response to a request for the dashboard, or undefined for every other request. */
export type ServeDashboard = (
  request: Request,
  details?: Pick<RequestDetails, 'remote_address' | 'remoteAddress'>,
) => Promise<Response> | undefined

/**
 * Serves the dashboard at `mount_path` (default /error_dashboard), compared with the whole path of the URL. Starts the
 * tracker.
 * @example
 * const serveDashboard = dashboard()
 * const response = await serveDashboard(request, { remote_address }) // undefined if the host must respond
 */
export function dashboard(tracker: TrackerInstance = Tracker): ServeDashboard {
  const { mount_path } = startDashboard(tracker)
  return (request, details = {}) => {
    const target = {
      originalUrl: withoutOrigin(request.url),
      // Read for the dashboard only.
      get ip() {
        return readSafely(() => details.remote_address ?? details.remoteAddress)
      },
    }
    const mount = findMount(target, mount_path)
    if (mount) return serveWebRequest(tracker, mount, request)
    markStart(request)
    return undefined
  }
}

/**
 * Records an error of the host, once per request. For the error hook of a framework. Errors with a 4xx `status` are
 * counted and not recorded. Never throws.
 * @example
 * const recordError = capture()
 * export const handleError = ({ error, event }) => recordError(error, event.request, { route: event.route.id })
 */
export function capture(tracker: TrackerInstance = Tracker) {
  return (error: unknown, request: Request, details: RequestDetails | null = {}): void => {
    const remote_address = readSafely(() => details?.remote_address ?? details?.remoteAddress) ?? undefined
    const { route, params, user } = details ?? {}
    const facts = { remote_address, route: route ?? undefined, params, user }
    // `Tracker.report` identifies a request by its node:http request.
    const key = tracker.currentRequest() ?? request
    recordWebRequestError(tracker, error, request, { source: 'fetch', request: facts }, key)
  }
}

/** Options in snake_case or camelCase. */
export type FetchOptions<Rest extends unknown[]> = AnyCase<CanonicalOptions<Rest>>

interface CanonicalOptions<Rest extends unknown[]> {
  tracker?: TrackerInstance
  /** Returns the address of the client or of the last proxy. Receives the arguments of the handler. */
  remote_address?: (request: Request, ...rest: Rest) => string | null | undefined
}

const OPTION_NAMES = { tracker: true, remote_address: true } as const

/**
 * Wraps a Fetch handler. The dashboard handles requests below `mount_path`, and the handler handles all other requests.
 * Errors of the handler are recorded and rethrown unchanged.
 * @example export default { fetch: withFaultboard(async (request) => new Response('Hello')) }
 */
export function withFaultboard<Rest extends unknown[], Result>(
  handler: (request: Request, ...rest: Rest) => Result,
  options: FetchOptions<Rest> = {},
): (request: Request, ...rest: Rest) => Result | Promise<Response> {
  const { tracker = Tracker, remote_address } = checkOptionNames<CanonicalOptions<Rest>>(options, OPTION_NAMES)
  const serveDashboard = dashboard(tracker)
  const recordError = capture(tracker)
  return (request, ...rest) => {
    const details = {
      get remote_address() {
        return readSafely(() => remote_address?.(request, ...rest))
      },
    }
    const response = serveDashboard(request, details)
    if (response) return response
    const rethrow = (error: unknown): never => {
      recordError(error, request, details)
      throw error
    }
    try {
      const result = handler(request, ...rest)
      return isPromiseLike(result) ? (result.then(undefined, rethrow) as Result) : result
    } catch (error) {
      return rethrow(error)
    }
  }
}

/** Some frameworks return an object with `then` that is not a Promise. */
function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function'
}

function readSafely<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    // The host's function failed. The request is served, or its error recorded, without the address.
    return undefined
  }
}
