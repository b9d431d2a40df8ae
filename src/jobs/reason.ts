import { TrackerError } from '../model/errors.js'
import { failureMessage } from '../model/own-words.js'
import { cleanText } from '../model/text.js'
import { maskedAddress } from '../store/driver.js'

const LONGEST = 2000

/** Why something failed, in a text that may be kept and shown: bounded, and without the passwords of addresses. */
export function reasonOf(error: unknown): string {
  return cleanText(failureMessage(error), LONGEST).replace(
    /\b[a-z][a-z0-9+.-]*:\/\/[^\s'"<>]*@[^\s'"<>]*/gi,
    maskedAddress,
  )
}

/** Whether the recorder complains of it, too: the tracker's own database cannot be opened. */
export function isSaidByOthers(error: unknown): boolean {
  return error instanceof TrackerError && (error.code === 'schema_outdated' || error.code === 'database_unavailable')
}
