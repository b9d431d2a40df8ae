import type { ServerResponse } from 'node:http'
import {
  type HostRequest,
  requestFacts,
  type WebRequestDetails,
  webRequestFacts,
} from '../capture/facts/request-facts.js'
import type { LogErrorInput } from '../capture/fields.js'
import { whenStackAllows } from '../capture/guards/deferred-reports.js'
import type { TrackerInstance } from '../tracker.js'

/**
 * Records errors thrown by host handlers, once per request. The host's error handling is not affected. Errors intended
 * for the client (a 404, a rejected form) are counted, not recorded, unless they are unhandled. Every other error
 * counts as a 5xx response unless the adapter sets `request_failed`. The key identifies the request in all hooks: the
 * node:http request if there is one.
 */
export function recordRequestError(
  tracker: TrackerInstance,
  error: unknown,
  request: HostRequest,
  details: Partial<LogErrorInput> = {},
  key: object = request,
): void {
  record(tracker, error, key, () => requestFacts(request, tracker.config, details.request), details)
}

/** Variant for hosts with a standard Request. */
export function recordWebRequestError(
  tracker: TrackerInstance,
  error: unknown,
  request: Request,
  { request: readFacts, ...details }: Partial<Omit<LogErrorInput, 'request'>> & { request?: WebRequestDetails } = {},
  key: object = request,
): void {
  record(tracker, error, key, () => webRequestFacts(request, tracker.config, readFacts), details)
}

function record(...report: Parameters<typeof recordNow>): void {
  try {
    whenStackAllows(() => recordNow(...report))
  } catch {
    // Stack overflow: skip the report and let the host handle its own error.
  }
}

function recordNow(
  tracker: TrackerInstance,
  error: unknown,
  request: object,
  readFacts: () => LogErrorInput,
  details: Partial<LogErrorInput>,
): void {
  try {
    if (!tracker.config.enable_middleware) return
    if (isClientError(error) && !details.unhandled) countOnce(tracker, error, request)
    else
      tracker.capture(request, error, () => ({
        exception: error,
        request_failed: true,
        ...details,
        ...readSafely(readFacts),
      }))
  } catch {
    // Only a tracker that was shut down throws here, and the host must not notice.
  }
}

/** Last client error of each request, because several hooks can receive it. */
const lastClientErrors = new WeakMap<object, unknown>()

function countOnce(tracker: TrackerInstance, error: unknown, request: object | null): void {
  if (request && lastClientErrors.get(request) === error) return
  if (request) lastClientErrors.set(request, error)
  tracker.drop('client_error')
}

/** Reading the request can run failing host code (a getter, a lazy parser). The error itself is still recorded. */
function readSafely(readFacts: () => LogErrorInput): LogErrorInput {
  try {
    return readFacts()
  } catch {
    return {}
  }
}

/** Returns true if the error is intended for the client (a 404, a rejected form) and not a fault of the host. */
function isClientError(error: unknown): boolean {
  const status = requestedStatus(error)
  return status >= 400 && status < 500
}

/** The response status that the error requests, or NaN. */
function requestedStatus(error: unknown): number {
  if (typeof error !== 'object' || error === null) return Number.NaN
  try {
    const { status, statusCode } = error as { status?: unknown; statusCode?: unknown }
    return Number(status ?? statusCode)
  } catch {
    // A getter threw, so this is not an error intended for the client.
    return Number.NaN
  }
}

/**
 * Returns true if the error causes a 5xx response. Express and Fastify use the status of the error, else an error
 * status set by the handler, else 500.
 */
export function failsRequest(error: unknown, { headersSent, statusCode }: ResponseState): boolean {
  if (headersSent) return false
  return requestedStatus(error) >= 500 || statusCode < 400 || statusCode >= 500
}

type ResponseState = Pick<ServerResponse, 'headersSent' | 'statusCode'>
