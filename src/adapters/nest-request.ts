import type { TrackerInstance } from '../tracker.js'
import type { HostRequest } from './bridge.js'
import type { Origin } from './nest-filters.js'
import { recordRequestError } from './request-details.js'

/** Records errors that reach the exception filters, with their request if there is one. */
export function recordNestError(
  tracker: TrackerInstance,
  error: unknown,
  args: readonly unknown[],
  origin: Origin,
): void {
  const request = findRequest(args)
  const { raw, routeOptions } = request ?? {}
  const details = {
    source: 'nest',
    request_failed: failsRequest(args),
    ...(routeOptions?.url && { request: { route: routeOptions.url } }),
    ...(origin.controller && { context: { ...origin } }),
  }
  // A missing request cannot be read, but the error is still recorded.
  recordRequestError(tracker, error, request as HostRequest, details, raw ?? (request as HostRequest))
}

/**
 * An HTTP context has the request and the response of Express or Fastify. GraphQL responds with 200 to a failing
 * resolver, and a stream fails after the headers were sent.
 */
function failsRequest(args: readonly unknown[]): boolean {
  try {
    const { headersSent, sent } = args[1] as { headersSent?: unknown; sent?: unknown }
    return isRequest(args[0]) && (headersSent ?? sent) === false
  } catch {
    // No response, or a host getter threw.
    return false
  }
}

/** Host request with the properties added by Fastify. */
type NestRequest = HostRequest & { raw?: object; routeOptions?: { url?: string } }

/** HTTP passes the request first; GraphQL keeps it in its context, the third argument. */
function findRequest(args: readonly unknown[]): NestRequest | null {
  try {
    const candidates = [args[0], (args[2] as { req?: unknown } | null | undefined)?.req]
    return candidates.find(isRequest) ?? null
  } catch {
    // Can be any host object that is not a request; the filters must still run.
    return null
  }
}

function isRequest(value: unknown): value is NestRequest {
  return typeof value === 'object' && value !== null && 'headers' in value && 'method' in value && 'url' in value
}
