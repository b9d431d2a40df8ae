import type { Cause } from '../model/event.js'
import { MANY_MESSAGES, normaliseMessage, placeOf, signatureOf } from '../model/signature.js'
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
  /** File and function of the first frames in the host's own code. */
  place: string[]
}

type Grouped = Pick<ErrorRecord, 'error_type' | 'message' | 'source' | 'hash_signature' | 'backtrace' | 'causes'>

/** Finds out by trying, because a record keeps its signature, not the recipe that made it. */
export function groupingOf({ error_type, hash_signature, source, ...record }: Grouped, root: string): ErrorGrouping {
  const message = normaliseMessage(record.message)
  const places = [record.backtrace, ...backtracesOf(record.causes)].map((backtrace) => placeOf(backtrace, root))
  const fits = (text: string) =>
    places.find(
      (place) => signatureOf({ error_type, message: text, place, source: source ?? undefined }) === hash_signature,
    )
  const exact = fits(message)
  if (exact) return { by: 'parts', error_type, message, place: exact }
  const flooded = fits(MANY_MESSAGES)
  if (flooded) return { by: 'many_messages', error_type, message: MANY_MESSAGES, place: flooded }
  return { by: 'other', error_type, message, place: places[0] ?? [] }
}

function* backtracesOf(causes: readonly Cause[]): Iterable<readonly string[]> {
  for (const { backtrace, causes: inner } of causes) {
    yield backtrace
    if (inner) yield* backtracesOf(inner)
  }
}
