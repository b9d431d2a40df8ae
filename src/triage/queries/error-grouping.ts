import type { Cause } from '../../model/event.js'
import { MANY_MESSAGES, rootCauseOf, signatureOf, signedMessage } from '../../model/grouping/signature.js'
import { codePlace } from '../../model/stacks/code-place.js'
import type { ErrorRecord } from './error-record.js'

/** Why the occurrences of an error are one group. */
export interface ErrorGrouping {
  /**
   * `parts`: same type, message and place. `many_messages`: same type and place, where too many messages came to have a
   * group each. `other`: by `custom_fingerprint`, or by values that were filtered out and are not known here.
   */
  by: 'parts' | 'many_messages' | 'other'
  error_type: string
  /** The message with everything that varies replaced by a word for its kind. */
  message: string
  /** Type and code of the error behind a bare wrapper such as `fetch failed`. */
  root_cause: string | null
  /** File and function of the first frames in the host's own code; `~` precedes the digest of a source line. */
  place: string[]
}

type Grouped = Pick<ErrorRecord, 'error_type' | 'message' | 'source' | 'hash_signature' | 'backtrace' | 'causes'> &
  Partial<Pick<ErrorRecord, 'signature_place'>>

/** Recomputes the signature from the record, which stores the result but not how it was computed. */
export function groupingOf({ error_type, hash_signature, ...record }: Grouped, root: string): ErrorGrouping {
  const { message, backtrace, causes, signature_place } = record
  const source = record.source ?? undefined
  const root_cause = rootCauseOf({ error_type, message, causes })
  const places = [
    ...(signature_place ? [[...signature_place]] : []),
    ...[backtrace, ...backtracesOf(causes)].map((lines) => codePlace(lines, root)),
  ]
  const normalized = signedMessage({ error_type, message })
  const exact = places.find(
    (place) => signatureOf({ error_type, message: normalized, root_cause, place, source }) === hash_signature,
  )
  if (exact) return { by: 'parts', error_type, message: normalized, root_cause, place: exact }
  const flooded = places.find(
    (place) => signatureOf({ error_type, message: MANY_MESSAGES, place, source }) === hash_signature,
  )
  if (flooded) return { by: 'many_messages', error_type, message: MANY_MESSAGES, root_cause: null, place: flooded }
  return { by: 'other', error_type, message: normalized, root_cause, place: places[0] ?? [] }
}

function* backtracesOf(causes: readonly Cause[]): Iterable<readonly string[]> {
  for (const { backtrace, causes: inner } of causes) {
    yield backtrace
    if (inner) yield* backtracesOf(inner)
  }
}
