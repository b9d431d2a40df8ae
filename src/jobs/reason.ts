import { failureMessage, TrackerError } from '../model/errors.js'
import { cleanText } from '../model/text.js'
import { maskPassword } from '../store/load-driver.js'

const MAX_REASON_LENGTH = 2000

/** Describes a failure in text that can be stored and shown: bounded, and without passwords in URLs. */
export function failureReason(error: unknown): string {
  return cleanText(failureMessage(error), MAX_REASON_LENGTH).replace(
    /\b[a-z][a-z0-9+.-]*:\/\/[^\s'"<>]*@[^\s'"<>]*/gi,
    maskPassword,
  )
}

/** Returns true if the recorder also reports this error, because the tracker's own database cannot be opened. */
export function isReportedByRecorder(error: unknown): boolean {
  return error instanceof TrackerError && (error.code === 'schema_outdated' || error.code === 'database_unavailable')
}
