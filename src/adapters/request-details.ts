import type { LogErrorInput } from '../capture/fields.js'
import type { TrackerInstance } from '../tracker.js'
import type { HostRequest } from './bridge.js'

/**
 * Records what a handler of the host threw, once per request. The host's own error handling goes on, whatever happens
 * here. What the host means for its client (a 404, a refused form) is counted, not recorded, unless nobody handled it.
 */
export function recordRequestError(
  tracker: TrackerInstance,
  error: unknown,
  request: HostRequest,
  more: Partial<LogErrorInput> = {},
): void {
  try {
    if (!tracker.config.enable_middleware) return
    if (isClientError(error) && !more.unhandled) tracker.drop('client_error')
    else tracker.capture(request, { exception: error, ...detailsOf(request), ...more })
  } catch {
    // Only a tracker that was shut down meanwhile throws here, and the host must not notice.
  }
}

/** Reading the request may run code of the host (a getter, a lazy parser) that fails: the error itself still counts. */
function detailsOf(request: HostRequest): Partial<LogErrorInput> {
  try {
    return requestDetails(request)
  } catch {
    return {}
  }
}

/** What an error report says about the request in which the error happened. */
function requestDetails(
  request: HostRequest & { query?: unknown; params?: unknown; ip?: string; user?: unknown },
): Omit<LogErrorInput, 'exception'> {
  const { headers, method } = request
  return {
    request_url: addressOf(request),
    request_params: parametersOf(request),
    ip_address: request.ip ?? request.socket?.remoteAddress,
    user_agent: headers['user-agent'],
    user_id: userIdOf(request.user),
    context: { method },
  }
}

/** Errors that the host means for its client (a 404, a refused form) are no faults of the host. */
function isClientError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  try {
    const { status, statusCode } = error as { status?: unknown; statusCode?: unknown }
    const code = Number(status ?? statusCode)
    return code >= 400 && code < 500
  } catch {
    // A getter of the error threw; it certainly was not made for a client.
    return false
  }
}

function addressOf(request: HostRequest): string {
  const path = request.originalUrl ?? request.url ?? '/'
  const { host } = request.headers
  const scheme = (request.socket as { encrypted?: boolean } | undefined)?.encrypted ? 'https' : 'http'
  return host ? `${scheme}://${host}${path}` : path
}

function parametersOf({ query, params, body }: { query?: unknown; params?: unknown; body?: unknown }): unknown {
  const parts = Object.entries({ query, params, body }).filter(
    ([, part]) => typeof part === 'object' && part !== null && Object.keys(part).length > 0,
  )
  return parts.length > 0 ? Object.fromEntries(parts) : undefined
}

function userIdOf(user: unknown): string | undefined {
  if (typeof user !== 'object' || user === null) return undefined
  const { id } = user as { id?: unknown }
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined
}
