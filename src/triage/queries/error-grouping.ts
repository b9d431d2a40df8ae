import type * as v from 'valibot'
import type { Cause } from '../../model/event.js'
import { errorSignature, MANY_MESSAGES, signatureMessage, wrappedRootCause } from '../../model/grouping/signature.js'
import * as r from '../../model/result.js'
import { codePlace } from '../../model/stacks/code-place.js'
import type { ErrorRecord } from './error-record.js'

/** Explains why the occurrences of an error form one group. */
export const ErrorGrouping = r.object({
  /**
   * `parts`: same type, message and location. `many_messages`: same type and location, with too many messages for
   * separate groups. `other`: `custom_fingerprint`, or values that were filtered before storage.
   */
  grouped_by: r.oneOf(['parts', 'many_messages', 'other']),
  error_type: r.text,
  /** Message with variable parts replaced by placeholders. */
  message: r.text,
  /** Type and code of the root cause of a bare wrapper such as `fetch failed`. */
  root_cause: r.nullable(r.text),
  /** File and function of the first in-app frames. `~` precedes the digest of a source line. */
  place: r.list(r.text),
})
export type ErrorGrouping = v.InferOutput<typeof ErrorGrouping>

type GroupedRecord = Pick<
  ErrorRecord,
  'error_type' | 'message' | 'source' | 'hash_signature' | 'backtrace' | 'causes'
> &
  Partial<Pick<ErrorRecord, 'signature_place'>>

/** Recomputes the signature, because the record stores only the result. */
export function explainGrouping({ error_type, hash_signature, ...record }: GroupedRecord, root: string): ErrorGrouping {
  const { message, backtrace, causes, signature_place } = record
  const source = record.source ?? undefined
  const root_cause = wrappedRootCause({ error_type, message, causes })
  const places = [
    ...(signature_place ? [[...signature_place]] : []),
    ...[backtrace, ...causeBacktraces(causes)].map((lines) => codePlace(lines, root)),
  ]
  const normalized = signatureMessage({ error_type, message })
  const exactPlace = places.find(
    (place) => errorSignature({ error_type, message: normalized, root_cause, place, source }) === hash_signature,
  )
  if (exactPlace) return { grouped_by: 'parts', error_type, message: normalized, root_cause, place: exactPlace }
  const floodedPlace = places.find(
    (place) => errorSignature({ error_type, message: MANY_MESSAGES, place, source }) === hash_signature,
  )
  if (floodedPlace)
    return { grouped_by: 'many_messages', error_type, message: MANY_MESSAGES, root_cause: null, place: floodedPlace }
  return { grouped_by: 'other', error_type, message: normalized, root_cause, place: places[0] ?? [] }
}

function* causeBacktraces(causes: readonly Cause[]): Iterable<readonly string[]> {
  for (const { backtrace, causes: inner } of causes) {
    yield backtrace
    if (inner) yield* causeBacktraces(inner)
  }
}
