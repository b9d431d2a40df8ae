import type { Cause } from '../../model/event.js'
import {
  fingerprintSignature,
  MANY_MESSAGES,
  rootCauseOf,
  signatureOf,
  signedMessage,
} from '../../model/grouping/signature.js'
import { relativeLines } from '../../model/stacks/backtrace.js'
import {
  codePlace,
  displayLocation,
  isStackOverflow,
  isUnreadPlace,
  type LineDigest,
  placeAtRoute,
  recursionPlace,
  rootBacktrace,
} from '../../model/stacks/code-place.js'
import { cleanText } from '../../model/text.js'
import { callbackContext } from '../callback-context.js'
import type { Draft, Step, StepContext } from '../draft.js'
import { isObject } from '../values/is-object.js'

/** Determines the location in the host's code and the group of the error. */
export const sign: Step = (draft, context) => {
  const at = signedPlace(draft, context)
  draft.place = at.place
  draft.signature_place = at.frames
  draft.backtrace = placeOnce(draft.backtrace, draft, context).relative
  if (draft.causes.length > 0) draft.causes = draft.causes.map((cause) => relativeCause(cause, draft, context))
  draft.hash_signature = signatureAt(at, draft)
  const fingerprint = fingerprintOf(draft, context) ?? clientFingerprint(draft)
  if (fingerprint) draft.hash_signature = fingerprintSignature(fingerprint, draft.source)
  else shareGroupInFlood(draft, at, context)
}

function shareGroupInFlood(draft: Draft, at: Place, { floods, count, now }: StepContext): void {
  // Includes the source, so that clients cannot exhaust the limit of a server location. Without a location, errors of
  // different types have nothing in common.
  const place = at.key || draft.error_type
  const shared_type = floods.sharedType(draft.source ? `${draft.source}\n${place}` : place, draft, now())
  if (shared_type === null) return
  if (shared_type !== draft.error_type) {
    draft.message = `${draft.error_type}: ${draft.message}`
    draft.error_type = shared_type
  }
  draft.hash_signature = signatureOnce(at, draft, MANY_MESSAGES, null)
  count('flood_shares_a_group')
}

/** Location of a backtrace, and the errors last signed there. */
interface Place {
  project_root: string
  is_client: boolean
  place: string | null
  /** The backtrace with paths relative to the root. */
  relative: readonly string[]
  frames: readonly string[]
  key: string
  last: LastSigned | null
  signatures: Map<string, string>
  /** Other locations for the same backtrace: by route if the source cannot be read, and for a stack overflow. */
  variants: Map<string, Place> | null
}

type LastSigned = Pick<Draft, 'error_type' | 'message' | 'hash_signature'> & {
  source: Draft['source']
  root_cause: string | null
}

/** Cached signatures per location: nearly all errors of a location have one or two. */
const REMEMBERED = 20

/** Repeats from one location share one backtrace array (see thrown-value.ts), so most of a storm is a lookup. */
const places = new WeakMap<readonly string[], Place>()

function placeOnce(backtrace: readonly string[], { source }: Draft, context: StepContext): Place {
  const { project_root } = context.config
  const is_client = source !== undefined
  const known = places.get(backtrace)
  // Two trackers in one process can have different roots.
  if (known?.project_root === project_root && known.is_client === is_client) return known
  const frames = codePlace(backtrace, project_root, lineDigest(is_client, context))
  const place: Place = {
    last: null,
    signatures: new Map(),
    variants: null,
    project_root,
    is_client,
    place: displayLocation(backtrace, project_root),
    relative: relativeLines(backtrace, project_root),
    frames,
    key: frames.join('\n'),
  }
  places.set(backtrace, place)
  return place
}

/** Clients report their own file names. Those files are never read here. */
function lineDigest(is_client: boolean, { source_lines }: StepContext): LineDigest | undefined {
  return is_client ? undefined : (frame, isCaller) => source_lines.digest(frame, isCaller)
}

/** The location used for grouping. */
function signedPlace(draft: Draft, context: StepContext): Place {
  const backtrace = rootBacktrace(draft, context.config.project_root)
  const at = placeOnce(backtrace, draft, context)
  if (isStackOverflow(draft)) {
    return variant(at, 'overflow', () =>
      recursionPlace(backtrace, context.config.project_root, lineDigest(at.is_client, context)),
    )
  }
  const route = !at.is_client && isUnreadPlace(at.frames) ? routeOf(draft) : null
  return route === null ? at : variant(at, `route ${route}`, () => placeAtRoute(at.frames, route))
}

/** Cached variants per location. */
const MAX_VARIANTS = 50

function variant(at: Place, name: string, framesOf: () => readonly string[]): Place {
  at.variants ??= new Map()
  const known = at.variants.get(name)
  if (known) return known
  if (at.variants.size >= MAX_VARIANTS) at.variants.clear()
  const frames = framesOf()
  const made: Place = { ...at, frames, key: frames.join('\n'), last: null, signatures: new Map(), variants: null }
  at.variants.set(name, made)
  return made
}

/** Route pattern of the request, such as `/users/:id`. A path with real values would be a location of its own. */
function routeOf({ request }: Draft): string | null {
  if (!isObject(request)) return null
  try {
    const { method, route } = request as { method?: unknown; route?: unknown }
    return typeof route === 'string' && route !== '' ? cleanText(`${String(method ?? '')} ${route}`, 300) : null
  } catch {
    // A getter of the host threw.
    return null
  }
}

function relativeCause(cause: Cause, draft: Draft, context: StepContext): Cause {
  const { relative } = placeOnce(cause.backtrace, draft, context)
  const causes = cause.causes?.map((inner) => relativeCause(inner, draft, context))
  return { ...cause, backtrace: relative, ...(causes ? { causes } : {}) }
}

function signatureAt(at: Place, draft: Draft): string {
  const { error_type, message, source } = draft
  const root_cause = draft.causes.length > 0 ? rootCauseOf(draft) : null
  const { last } = at
  if (
    last?.error_type === error_type &&
    last.message === message &&
    last.source === source &&
    last.root_cause === root_cause
  ) {
    return last.hash_signature
  }
  const hash_signature = signatureOnce(at, draft, signedMessage(draft), root_cause)
  at.last = { error_type, message, source, root_cause, hash_signature }
  return hash_signature
}

/** Computes one hash for all messages that differ only in variable parts. */
function signatureOnce(
  { signatures, frames }: Place,
  { error_type, source }: Draft,
  message: string,
  root_cause: string | null,
): string {
  const key = `${source ?? ''}\n${error_type}\n${root_cause ?? ''}\n${message}`
  const known = signatures.get(key)
  if (known) return known
  const hash_signature = signatureOf({ error_type, message, root_cause, place: frames, source })
  if (signatures.size >= REMEMBERED) signatures.clear()
  signatures.set(key, hash_signature)
  return hash_signature
}

const DEFAULT_PART = /^\{\{\s*default\s*\}\}$/

/** Fingerprint requested by a client, unless it is only the default. */
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
