import { TrackerError } from '../../model/errors.js'
import type { TrackerInstance } from '../../tracker.js'
import { jsonResponse } from '../http.js'
import { RateLimitExceeded } from '../limits.js'
import { MalformedEnvelope } from './envelope.js'

/** Rejection with a message for the SDK. The message must be fixed text, because it is also sent in a header. */
export class Rejection extends Error {
  readonly status: number
  readonly headers: Record<string, string>

  constructor(status: number, detail: string, headers: Record<string, string> = {}) {
    super(detail)
    this.status = status
    this.headers = headers
  }
}

/** Converts a failure to a response with the reason in the format of SDKs. */
export function rejectionResponse(error: unknown, tracker: TrackerInstance): Response {
  const { status, message, headers } = knownRejection(error) ?? internalRejection(error, tracker)
  return jsonResponse(status, { detail: message }, { ...headers, 'x-sentry-error': message })
}

function knownRejection(error: unknown): Rejection | null {
  if (error instanceof Rejection) return error
  if (error instanceof RateLimitExceeded) return rateLimitRejection(error)
  if (error instanceof MalformedEnvelope) return new Rejection(400, error.message)
  if (!(error instanceof TrackerError)) return null
  if (error.code === 'too_large') return new Rejection(413, error.message)
  // The tracker was shut down.
  return new Rejection(503, 'errors cannot be accepted right now', { 'retry-after': '60' })
}

/** Sets both retry headers. The second header makes SDKs pause all items of this key. */
function rateLimitRejection({ message, retry_after }: RateLimitExceeded): Rejection {
  return new Rejection(429, message, {
    'retry-after': String(retry_after),
    'x-sentry-rate-limits': `${retry_after}::key`,
  })
}

/** Handles a failure in a host callback or in this package. The message must not reach the client. */
function internalRejection(error: unknown, tracker: TrackerInstance): Rejection {
  tracker.intake.failed(error)
  return new Rejection(500, 'the envelope could not be processed')
}
