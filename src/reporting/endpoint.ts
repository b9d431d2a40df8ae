import { findUserId } from '../capture/facts/user.js'
import { Tracker } from '../index.js'
import { ConfigurationError, TrackerError } from '../model/errors.js'
import { checkOptionNames } from '../model/input/option-names.js'
import type { AnyCase } from '../model/input/spelling.js'
import type { TrackerInstance } from '../tracker.js'
import { type ClientOptions, rateLimitKey, resolveClient } from './client.js'
import { parseErrors, type ReportedError } from './contract.js'
import { type CorsOptions, createCors } from './cors.js'
import { type Endpoint, jsonResponse, type ReportingRequest, type RequestOrigin } from './http.js'
import { jsonBody } from './json-body.js'
import { enforceLimit, RateLimitExceeded, trackerLimits } from './limits.js'
import { type Mountable, mountable } from './mountable.js'
import { toForeignError } from './reported-error.js'
import { SeenEvents } from './seen-events.js'

export type { ReportingRequest } from './http.js'
export type { Mountable } from './mountable.js'

/** Options in snake_case or camelCase. */
export type ReportingOptions = AnyCase<CanonicalOptions>

interface CanonicalOptions extends CorsOptions, ClientOptions {
  /** Default: the default tracker. */
  tracker?: TrackerInstance
  /** Returns true if the client may report. Any other value results in 401. Default: accepts every request. */
  authorize?(from: ReportingRequest): boolean | Promise<boolean>
  /** User of the error. Default: `user_callback`, or the usual properties set by the host's authentication. */
  user?(from: ReportingRequest): string | number | null | undefined | Promise<string | number | null | undefined>
  /** Trusts the `user_id` sent by a client if the host cannot identify the user. */
  trust_user?: boolean
  /** Maximum body size in bytes. */
  max_bytes?: number
  /** Origins other than the page's own site that serve the host's bundles. */
  script_origins?: readonly string[]
}

/**
 * Endpoint for errors from browsers and apps, mounted by the host behind its own guards. Implements the contract of
 * docs/reporting.md and never throws into the host.
 * @example
 * const reporting = reportingEndpoint({ authorize: ({ request }) => isSignedIn(request) })
 * app.all('/client_errors', reporting.express)
 */
export function reportingEndpoint(givenOptions: ReportingOptions = {}): Mountable {
  const options = checkOptionNames<CanonicalOptions>(givenOptions, OPTION_NAMES)
  const tracker = options.tracker ?? Tracker
  const settings = { ...DEFAULTS, ...definedOptions(options) }
  checkMaxBytes(settings)
  const cors = createCors(options)
  const limits = trackerLimits(tracker)
  const seenEvents = new SeenEvents(tracker)

  const endpoint: Endpoint = async (request, origin) => {
    try {
      if (request.method === 'OPTIONS') return cors.preflight(request)
      return cors.allowOrigin(request, await handleReport(request, origin))
    } catch (error) {
      return cors.allowOrigin(request, errorResponse(error, tracker))
    }
  }

  async function handleReport(request: Request, origin: RequestOrigin): Promise<Response> {
    if (request.method !== 'POST') {
      return jsonResponse(405, { error: 'Report errors with POST.' }, { Allow: 'POST, OPTIONS' })
    }
    if (cors.isForbidden(request)) {
      return jsonResponse(403, { error: 'This origin is not allowed to report errors: it is not in allowed_origins.' })
    }
    const from: ReportingRequest = { request, host: origin.host }
    const address = resolveClient(from, origin, options, tracker.config)
    const client = rateLimitKey(address)
    enforceLimit(limits.countRequest(client))
    if (options.authorize && (await options.authorize(from)) !== true) {
      return jsonResponse(401, { error: 'This client is not allowed to report errors.' })
    }
    enforceLimit(limits.admit())
    const mediaProblem = checkMediaType(request)
    if (mediaProblem) return mediaProblem
    const { max_bytes } = settings
    const count = (bytes: number) => enforceLimit(limits.countBytes(client, bytes))
    const errors = parseErrors(await jsonBody(request, origin, { max_bytes, count }))
    enforceLimit(limits.countErrors(client, errors.length))
    const stored = await record(errors, from, address)
    // In a retry, an error that was recorded without an id would count twice.
    const shouldRetry = stored.includes(false) && errors.every(({ event_id }, i) => event_id || !stored[i])
    return shouldRetry ? unavailableResponse() : jsonResponse(201, { success: true })
  }

  async function record(errors: readonly ReportedError[], from: ReportingRequest, address: string | null) {
    const { max_backtrace_lines, user_callback } = tracker.config
    const hostUserId = options.user ? await options.user(from) : findUserId(from.host, user_callback)
    const reporter = {
      now: tracker.intake.now(),
      ip_address: address,
      user_agent: from.request.headers.get('user-agent'),
      script_origins: settings.script_origins,
      max_backtrace_lines,
    }
    return Promise.all(
      errors.map((report) => {
        const user_id = hostUserId ?? (settings.trust_user ? report.user_id : undefined)
        return seenEvents.record(toForeignError(report, { ...reporter, user_id }))
      }),
    )
  }

  return mountable(endpoint)
}

const OPTION_NAMES: Record<keyof CanonicalOptions, true> = {
  tracker: true,
  authorize: true,
  user: true,
  trust_user: true,
  max_bytes: true,
  script_origins: true,
  allowed_origins: true,
  allow_credentials: true,
  client_address: true,
}

const DEFAULTS = {
  max_bytes: 262_144,
  trust_user: false,
  script_origins: [] as readonly string[],
}

function definedOptions(options: CanonicalOptions): Partial<typeof DEFAULTS> {
  const entries = Object.entries(options).filter(
    ([name, value]) => value !== undefined && Object.hasOwn(DEFAULTS, name),
  )
  return Object.fromEntries(entries)
}

function checkMaxBytes({ max_bytes }: typeof DEFAULTS): void {
  if (Number.isSafeInteger(max_bytes) && max_bytes >= 1) return
  throw new ConfigurationError(['max_bytes must be a positive whole number'])
}

/** Includes text, because a page that is closing sends its last errors as text to avoid a preflight. */
const JSON_MEDIA_TYPE = /^(?:application\/(?:[\w.-]{1,60}\+)?json|text\/plain)\s*(?:;|$)/i

function checkMediaType({ headers }: Request): Response | null {
  if (!JSON_MEDIA_TYPE.test(headers.get('content-type') ?? '')) {
    return jsonResponse(415, { error: 'The body must be JSON: set Content-Type to application/json.' })
  }
  const encoding = headers.get('content-encoding') ?? 'identity'
  if (encoding.trim().toLowerCase() === 'identity') return null
  return jsonResponse(415, { error: 'The body must not be compressed.' }, { 'Accept-Encoding': 'identity' })
}

function rateLimitedResponse({ message, retry_after }: RateLimitExceeded): Response {
  return jsonResponse(429, { error: message }, { 'Retry-After': String(retry_after) })
}

/** The tracker was shut down, or can write neither to the database nor to disk. */
function unavailableResponse(): Response {
  return jsonResponse(503, { error: 'Errors cannot be accepted right now.' }, { 'Retry-After': '60' })
}

const CLIENT_ERROR_CODES: readonly string[] = ['invalid_input', 'too_large']

function errorResponse(error: unknown, tracker: TrackerInstance): Response {
  if (error instanceof RateLimitExceeded) return rateLimitedResponse(error)
  if (error instanceof TrackerError && CLIENT_ERROR_CODES.includes(error.code)) {
    return jsonResponse(error.status, { error: error.message })
  }
  if (error instanceof TrackerError && error.code === 'shut_down') {
    return unavailableResponse()
  }
  // A host callback failed, or the connection broke. The message must not reach the client.
  tracker.intake.failed(error)
  return jsonResponse(500, { error: 'The report could not be processed.' })
}
