import { userIdOf } from '../capture/facts/user.js'
import { Tracker } from '../index.js'
import { ConfigurationError, TrackerError } from '../model/errors.js'
import type { TrackerInstance } from '../tracker.js'
import { type Answering, type Arrival, answerJson, type ReportingRequest } from './arrival.js'
import { type ClientOptions, clientOf, countedBy } from './client.js'
import { errorsIn, type ReportedError } from './contract.js'
import { type CorsOptions, createCors } from './cors.js'
import { foreignError } from './foreign.js'
import { jsonBody } from './json-body.js'
import { hold, limitsOf, OverLimit } from './limits.js'
import { type Mountable, mountable } from './mountable.js'
import { SeenEvents } from './seen-events.js'

export type { ReportingRequest } from './arrival.js'
export type { Mountable } from './mountable.js'

export interface ReportingOptions extends CorsOptions, ClientOptions {
  /** Default: the default tracker. */
  tracker?: TrackerInstance
  /**
   * Whether the client may report: anything but true results in 401. Default: every request that reaches the endpoint.
   */
  authorize?(from: ReportingRequest): boolean | Promise<boolean>
  /** User of the error. Default: `user_callback`, or the usual properties set by the host's authentication. */
  user?(from: ReportingRequest): string | number | null | undefined | Promise<string | number | null | undefined>
  /** Trusts the `user_id` sent by a client if the host does not know the user. */
  trust_user?: boolean
  /** Maximum body size in bytes. */
  max_bytes?: number
  /** Origins other than the page's own site that serve the host's bundles. */
  script_origins?: readonly string[]
}

/**
 * Endpoint for errors of browsers and apps, mounted by the host behind its own guards. Implements the contract of
 * docs/reporting.md and never throws into the host.
 * @example
 * const reporting = reportingEndpoint({ authorize: ({ request }) => isSignedIn(request) })
 * app.all('/client_errors', reporting.express)
 */
export function reportingEndpoint(options: ReportingOptions = {}): Mountable {
  const tracker = options.tracker ?? Tracker
  const settings = { ...DEFAULTS, ...given(options) }
  checkNumbers(settings)
  const cors = createCors(options)
  const limits = limitsOf(tracker)
  const seen = new SeenEvents(tracker)

  const answering: Answering = async (request, arrival) => {
    try {
      if (request.method === 'OPTIONS') return cors.preflight(request)
      return cors.admit(request, await take(request, arrival))
    } catch (error) {
      return cors.admit(request, refusalOf(error, tracker))
    }
  }

  async function take(request: Request, arrival: Arrival): Promise<Response> {
    if (request.method !== 'POST') {
      return answerJson(405, { error: 'Report errors with POST.' }, { Allow: 'POST, OPTIONS' })
    }
    if (cors.isRefused(request)) {
      return answerJson(403, { error: 'This origin may not report here: it is not in allowed_origins.' })
    }
    const from: ReportingRequest = { request, host: arrival.host }
    const address = clientOf(from, arrival, options, tracker.config)
    const client = countedBy(address)
    hold(limits.request(client))
    if (options.authorize && (await options.authorize(from)) !== true) {
      return answerJson(401, { error: 'This client may not report here.' })
    }
    hold(limits.admit())
    const wrong = wrongMedia(request)
    if (wrong) return wrong
    const { max_bytes } = settings
    const count = (bytes: number) => hold(limits.bytes(client, bytes))
    const errors = errorsIn(await jsonBody(request, arrival, { max_bytes, count }))
    hold(limits.errors(client, errors.length))
    const kept = await record(errors, from, address)
    // In a retry, an error that was recorded without an id would count twice.
    const isWorthRepeating = kept.includes(false) && errors.every(({ event_id }, i) => event_id || !kept[i])
    return isWorthRepeating ? notNow() : answerJson(201, { success: true })
  }

  async function record(errors: readonly ReportedError[], from: ReportingRequest, address: string | null) {
    const { environment, max_backtrace_lines, user_callback } = tracker.config
    const known = options.user ? await options.user(from) : userIdOf(from.host, user_callback)
    const reporter = {
      now: tracker.inlet.now(),
      ip_address: address,
      user_agent: from.request.headers.get('user-agent'),
      script_origins: settings.script_origins,
      environment,
      max_backtrace_lines,
    }
    return Promise.all(
      errors.map((reported) => {
        const user_id = known ?? (settings.trust_user ? reported.user_id : undefined)
        return seen.record(foreignError(reported, { ...reporter, user_id }))
      }),
    )
  }

  return mountable(answering)
}

const DEFAULTS = {
  max_bytes: 262_144,
  trust_user: false,
  script_origins: [] as readonly string[],
}

/** Drops undefined options. */
function given(options: ReportingOptions): Partial<typeof DEFAULTS> {
  const set = Object.entries(options).filter(([name, value]) => value !== undefined && Object.hasOwn(DEFAULTS, name))
  return Object.fromEntries(set)
}

function checkNumbers({ max_bytes }: typeof DEFAULTS): void {
  if (Number.isSafeInteger(max_bytes) && max_bytes >= 1) return
  throw new ConfigurationError(['max_bytes must be a positive whole number'])
}

/** A page that is closing sends its last errors as text, which needs no preflight. */
const MEDIA = /^(?:application\/(?:[\w.-]{1,60}\+)?json|text\/plain)\s*(?:;|$)/i

function wrongMedia({ headers }: Request): Response | null {
  if (!MEDIA.test(headers.get('content-type') ?? '')) {
    return answerJson(415, { error: 'The body must be JSON: set Content-Type to application/json.' })
  }
  const encoding = headers.get('content-encoding') ?? 'identity'
  if (encoding.trim().toLowerCase() === 'identity') return null
  return answerJson(415, { error: 'The body must not be compressed.' }, { 'Accept-Encoding': 'identity' })
}

function slowDown({ message, retry_after }: OverLimit): Response {
  return answerJson(429, { error: message }, { 'Retry-After': String(retry_after) })
}

/** The tracker was shut down, or can write neither to the database nor to disk. */
function notNow(): Response {
  return answerJson(503, { error: 'Errors are not accepted at the moment.' }, { 'Retry-After': '60' })
}

const ANSWERED: readonly string[] = ['invalid_input', 'too_large']

function refusalOf(error: unknown, tracker: TrackerInstance): Response {
  if (error instanceof OverLimit) return slowDown(error)
  if (error instanceof TrackerError && ANSWERED.includes(error.code)) {
    return answerJson(error.status, { error: error.message })
  }
  if (error instanceof TrackerError && error.code === 'shut_down') {
    return notNow()
  }
  // A callback of the host failed, or the connection broke. The message is not for the client.
  tracker.inlet.failed(error)
  return answerJson(500, { error: 'The report could not be processed.' })
}
