import { hash } from 'node:crypto'
import type { Cause, ClientSource } from '../event.js'
import { normalizeMessage } from './normalized-message.js'

export interface SignatureParts {
  error_type: string
  /** Return value of `signatureMessage`. */
  message: string
  /** Return value of `wrappedRootCause`. */
  root_cause?: string | null | undefined
  /** Return value of `codePlace`. */
  place: readonly string[]
  /** Set for client errors, which never share a signature with server errors. */
  source?: ClientSource | undefined
}

/** Replaces the message when one location produces too many different messages. */
export const MANY_MESSAGES = '<many messages>'

/** Grouping key: SHA-256 over error type, normalized message, root cause and location in the host's own code. */
export function errorSignature({ error_type, message, root_cause, place, source }: SignatureParts): string {
  const cause = root_cause ? [`caused by ${root_cause}`] : []
  return sha256(withSource([error_type, message, ...cause, ...place].join('\n'), source))
}

/** Grouping key for a fingerprint chosen by the host. */
export function fingerprintSignature(fingerprint: string, source?: ClientSource): string {
  return sha256(withSource(`fingerprint\n${fingerprint}`, source))
}

/** Captured text never contains NUL, so no server error produces the same input. */
function withSource(text: string, source: ClientSource | undefined): string {
  return source === undefined ? text : `\0client:${source}\n${text}`
}

/** Validation errors list the problems of one input, so that nearly every message is different. */
const VALIDATION_TYPE =
  /(?:Validation(?:Error|Exception|Failed)|ValidateError)$|^(?:\$?Zod(?:Real)?Error|ValiError|StructError|ArkErrors?|TypeBoxError|FastifyValidationError)$/
const VALIDATION_MESSAGE = '<validation>'

/** Message as used in the signature: normalized, or a fixed word if only type and location count. */
export function signatureMessage({ error_type, message }: { error_type: string; message: string }): string {
  return VALIDATION_TYPE.test(error_type) ? VALIDATION_MESSAGE : normalizeMessage(message)
}

/** Wrapper messages that are the same for every cause: those of undici, and the empty message. */
const BARE_MESSAGE = /^(?:fetch failed|terminated|)$/
const MAX_CAUSE_DEPTH = 10

/** Type and code of the root cause of a bare wrapper, such as `Error ECONNREFUSED`; null for any other error. */
export function wrappedRootCause({ error_type, message, causes }: WrapperError): string | null {
  if (error_type !== 'AggregateError' && !BARE_MESSAGE.test(message)) return null
  let root: Cause | undefined
  let inner: readonly Cause[] | undefined = causes
  for (let depth = 0; inner && depth < MAX_CAUSE_DEPTH; depth++) {
    const next: Cause | undefined = inner.find(({ relation }) => relation === 'cause') ?? inner[0]
    if (!next) break
    root = next
    inner = next.causes
  }
  if (!root) return null
  return root.code === undefined ? root.error_type : `${root.error_type} ${root.code}`
}

interface WrapperError {
  error_type: string
  message: string
  causes: readonly Cause[]
}

function sha256(text: string): string {
  return hash('sha256', text)
}
