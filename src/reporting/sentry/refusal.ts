import { TrackerError } from '../../model/errors.js'
import type { TrackerInstance } from '../../tracker.js'
import { answerJson } from '../arrival.js'
import { OverLimit } from '../limits.js'
import { MalformedEnvelope } from './envelope.js'

/** A rejection with a message for the SDK. The message is fixed text because it is also sent in a header. */
export class Refusal extends Error {
  readonly status: number
  readonly headers: Record<string, string>

  constructor(status: number, detail: string, headers: Record<string, string> = {}) {
    super(detail)
    this.status = status
    this.headers = headers
  }
}

/** Response to a failed request, in the format in which SDKs expect a reason. */
export function refusalOf(error: unknown, tracker: TrackerInstance): Response {
  const { status, message, headers } = knownRefusal(error) ?? unknownFault(error, tracker)
  return answerJson(status, { detail: message }, { ...headers, 'x-sentry-error': message })
}

function knownRefusal(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error
  if (error instanceof OverLimit) return tooMany(error)
  if (error instanceof MalformedEnvelope) return new Refusal(400, error.message)
  if (!(error instanceof TrackerError)) return null
  if (error.code === 'too_large') return new Refusal(413, error.message)
  // The tracker was shut down.
  return new Refusal(503, 'errors are not accepted at the moment', { 'retry-after': '60' })
}

/** SDKs pause for the duration in the second header, here for all items of this key. */
function tooMany({ message, retry_after }: OverLimit): Refusal {
  return new Refusal(429, message, {
    'retry-after': String(retry_after),
    'x-sentry-rate-limits': `${retry_after}::key`,
  })
}

/** A callback of the host or this package failed. The message is not for the client. */
function unknownFault(error: unknown, tracker: TrackerInstance): Refusal {
  tracker.inlet.failed(error)
  return new Refusal(500, 'the envelope could not be processed')
}
