import { culprit, placeText, relativeLines } from '../../model/backtrace.js'
import type { Cause } from '../../model/event.js'
import { fingerprintSignature, MANY_MESSAGES, normaliseMessage, placeOf, signatureOf } from '../../model/signature.js'
import { cleanText } from '../../model/text.js'
import { callbackContext } from '../callback-context.js'
import type { Draft, Step, StepContext } from '../draft.js'

/** Finds the place in the host's code and the group the error belongs to. */
export const sign: Step = (draft, context) => {
  const at = placeOnce(rootBacktrace(draft, context), context)
  draft.place = at.place
  draft.backtrace = placeOnce(draft.backtrace, context).relative
  if (draft.causes.length > 0) draft.causes = draft.causes.map((cause) => relativeCause(cause, context))
  draft.hash_signature = signatureAt(at, draft)
  const fingerprint = fingerprintOf(draft, context) ?? clientFingerprint(draft)
  if (fingerprint) draft.hash_signature = fingerprintSignature(fingerprint, draft.source)
  else if (context.floods.isFlooded(floodKey(at, draft), draft.hash_signature, context.now())) {
    draft.hash_signature = signatureOnce(at, draft, MANY_MESSAGES)
    context.count('flood_shares_a_group')
  }
}

/** Contains the source, so that clients cannot exhaust the limit of a place in the server's code. */
function floodKey({ key }: Place, { error_type, source }: Draft): string {
  return `${source ?? ''}\n${error_type}\n${key}`
}

/** What a backtrace says about the place, and the errors that were signed there last. */
interface Place {
  project_root: string
  place: string | null
  /** The backtrace itself, with paths relative to the root. */
  relative: readonly string[]
  frames: readonly string[]
  key: string
  last: (Pick<Draft, 'error_type' | 'message' | 'hash_signature'> & { source: Draft['source'] }) | null
  signatures: Map<string, string>
}

/** How many signatures of one place are remembered: nearly all errors of a place have one or two. */
const REMEMBERED = 20

/** Repeats from one place share one backtrace array (see thrown-value.ts), so most of a storm is placed by look-up. */
const places = new WeakMap<readonly string[], Place>()

function placeOnce(backtrace: readonly string[], { config: { project_root } }: StepContext): Place {
  const known = places.get(backtrace)
  // Two trackers of one process may have different roots.
  if (known?.project_root === project_root) return known
  const frame = culprit(backtrace, project_root)
  const frames = placeOf(backtrace, project_root)
  const place: Place = {
    last: null,
    signatures: new Map(),
    project_root,
    place: frame ? cleanText(placeText(frame), 500) : null,
    relative: relativeLines(backtrace, project_root),
    frames,
    key: frames.join('\n'),
  }
  places.set(backtrace, place)
  return place
}

function relativeCause(cause: Cause, context: StepContext): Cause {
  const { relative } = placeOnce(cause.backtrace, context)
  const causes = cause.causes?.map((inner) => relativeCause(inner, context))
  return { ...cause, backtrace: relative, ...(causes ? { causes } : {}) }
}

function signatureAt(at: Place, draft: Draft): string {
  const { error_type, message, source } = draft
  const { last } = at
  if (last?.error_type === error_type && last.message === message && last.source === source) return last.hash_signature
  const hash_signature = signatureOnce(at, draft, normaliseMessage(message))
  at.last = { error_type, message, source, hash_signature }
  return hash_signature
}

/** Messages that differ only in what is normalised away make one hash, not one each. */
function signatureOnce({ signatures, frames }: Place, { error_type, source }: Draft, message: string): string {
  const key = `${source ?? ''}\n${error_type}\n${message}`
  const known = signatures.get(key)
  if (known) return known
  const hash_signature = signatureOf({ error_type, message, place: frames, source })
  if (signatures.size >= REMEMBERED) signatures.clear()
  signatures.set(key, hash_signature)
  return hash_signature
}

/** The place that tells where it went wrong is that of the innermost cause that came by the host's own code. */
function rootBacktrace(draft: Draft, { config }: StepContext): readonly string[] {
  let { backtrace } = draft
  for (let causes = draft.causes; ; ) {
    // Where several errors were gathered without a place of their own, as Promise.any does it, the first one has it.
    const cause =
      causes.find(({ relation }) => relation === 'cause') ?? (backtrace.length === 0 ? causes[0] : undefined)
    if (!cause) return backtrace
    if (backtrace.length === 0 || culprit(cause.backtrace, config.project_root)?.in_app) backtrace = cause.backtrace
    causes = cause.causes ?? []
  }
}

const DEFAULT_PART = /^\{\{\s*default\s*\}\}$/

/** What a client asks for, unless that is our own way alone. */
function clientFingerprint({ fingerprint, hash_signature }: Draft): string | null {
  if (!fingerprint || fingerprint.every((part) => DEFAULT_PART.test(part))) return null
  return fingerprint.map((part) => (DEFAULT_PART.test(part) ? hash_signature : part)).join('\n')
}

function fingerprintOf(draft: Draft, { config, complain }: StepContext): string | null {
  if (!config.custom_fingerprint) return null
  try {
    const fingerprint = config.custom_fingerprint(draft.thrown, callbackContext(draft))
    return typeof fingerprint === 'string' && fingerprint !== '' ? fingerprint : null
  } catch (error) {
    complain('custom_fingerprint', error)
    return null
  }
}
