import type { TrackerInstance } from '../tracker.js'
import type { HostRequest } from './bridge.js'
import type { Origin } from './nest-filters.js'
import { recordRequestError } from './request-details.js'

/** Records what reached the filters of Nest, with its request where there is one. */
export function recordNestError(
  tracker: TrackerInstance,
  error: unknown,
  args: readonly unknown[],
  origin: Origin,
): void {
  const request = requestOf(args)
  const { raw, routeOptions } = request ?? {}
  const more = {
    source: 'nest',
    request_failed: failsRequest(args),
    ...(routeOptions?.url && { request: { route: routeOptions.url } }),
    ...(origin.controller && { context: { ...origin } }),
  }
  // Of a request that is not there nothing can be read; the error counts all the same.
  recordRequestError(tracker, error, request as HostRequest, more, raw ?? (request as HostRequest))
}

/**
 * An HTTP context has the request and the response, of Express or of Fastify. GraphQL responds with 200 to a failing
 * resolver, and a stream fails after the head was sent.
 */
function failsRequest(args: readonly unknown[]): boolean {
  try {
    const { headersSent, sent } = args[1] as { headersSent?: unknown; sent?: unknown }
    return isRequest(args[0]) && (headersSent ?? sent) === false
  } catch {
    // No response, or a getter of the host failed.
    return false
  }
}

/** With what Fastify adds to it. */
type NestRequest = HostRequest & { raw?: object; routeOptions?: { url?: string } }

/** HTTP gives the request first; GraphQL keeps it in its context, the third argument. */
function requestOf(args: readonly unknown[]): NestRequest | null {
  try {
    const candidates = [args[0], (args[2] as { req?: unknown } | null | undefined)?.req]
    return candidates.find(isRequest) ?? null
  } catch {
    // What is no request may be anything of the host's, and the filters must be reached all the same.
    return null
  }
}

function isRequest(value: unknown): value is NestRequest {
  return typeof value === 'object' && value !== null && 'headers' in value && 'method' in value && 'url' in value
}
