import type { ServerResponse } from 'node:http'
import { type HostRequest, requestFacts, type WebRequestMore, webRequestFacts } from '../capture/facts/request-facts.js'
import type { LogErrorInput } from '../capture/fields.js'
import { whenStackAllows } from '../capture/guards/deferred-reports.js'
import type { TrackerInstance } from '../tracker.js'

/**
 * Records what a handler of the host threw, once per request. The host's own error handling goes on, whatever happens
 * here. What the host means for its client (a 404, a refused form) is counted, not recorded, unless nobody handled it.
 * Every other error counts as a 5xx response unless the adapter sets `request_failed`. The key identifies the request in
 * all hooks: the request of node:http, where there is one.
 */
export function recordRequestError(
  tracker: TrackerInstance,
  error: unknown,
  request: HostRequest,
  more: Partial<LogErrorInput> = {},
  key: object = request,
): void {
  record(tracker, error, key, () => requestFacts(request, tracker.config, more.request), more)
}

/** The same for hosts that have nothing but a standard Request. */
export function recordWebRequestError(
  tracker: TrackerInstance,
  error: unknown,
  request: Request,
  { request: facts, ...more }: Partial<Omit<LogErrorInput, 'request'>> & { request?: WebRequestMore } = {},
  key: object = request,
): void {
  record(tracker, error, key, () => webRequestFacts(request, tracker.config, facts), more)
}

function record(...report: Parameters<typeof recordNow>): void {
  try {
    whenStackAllows(() => recordNow(...report))
  } catch {
    // Overflow: the host continues with its error.
  }
}

function recordNow(
  tracker: TrackerInstance,
  error: unknown,
  request: object,
  facts: () => LogErrorInput,
  more: Partial<LogErrorInput>,
): void {
  try {
    if (!tracker.config.enable_middleware) return
    if (isClientError(error) && !more.unhandled) countOnce(tracker, error, request)
    else
      tracker.capture(request, error, () => ({ exception: error, request_failed: true, ...more, ...readable(facts) }))
  } catch {
    // Only a tracker that was shut down meanwhile throws here, and the host must not notice.
  }
}

/** Which error for its client a request met last: several hooks may see it. */
const counted = new WeakMap<object, unknown>()

function countOnce(tracker: TrackerInstance, error: unknown, request: object | null): void {
  if (request && counted.get(request) === error) return
  if (request) counted.set(request, error)
  tracker.drop('client_error')
}

/** Reading the request may run code of the host (a getter, a lazy parser) that fails: the error itself still counts. */
function readable(facts: () => LogErrorInput): LogErrorInput {
  try {
    return facts()
  } catch {
    return {}
  }
}

/** Errors that the host means for its client (a 404, a refused form) are no faults of the host. */
function isClientError(error: unknown): boolean {
  const status = statusOf(error)
  return status >= 400 && status < 500
}

/** The status that the error requests for its response; NaN without any. */
function statusOf(error: unknown): number {
  if (typeof error !== 'object' || error === null) return Number.NaN
  try {
    const { status, statusCode } = error as { status?: unknown; statusCode?: unknown }
    return Number(status ?? statusCode)
  } catch {
    // A getter of the error threw; it certainly was not made for a client.
    return Number.NaN
  }
}

/**
 * Whether the error leads to a 5xx response. Express and Fastify use the status of the error, otherwise an error status
 * that the handler had set, otherwise 500.
 */
export function failsRequest(error: unknown, { headersSent, statusCode }: FailingResponse): boolean {
  if (headersSent) return false
  return statusOf(error) >= 500 || statusCode < 400 || statusCode >= 500
}

type FailingResponse = Pick<ServerResponse, 'headersSent' | 'statusCode'>
