import type { Cause } from '../../model/event.js'
import {
  errorSignature,
  fingerprintSignature,
  MANY_MESSAGES,
  signatureMessage,
  wrappedRootCause,
} from '../../model/grouping/signature.js'
import { relativeLines } from '../../model/stacks/backtrace.js'
import {
  codePlace,
  displayLocation,
  isPlaceByLineNumber,
  isStackOverflow,
  type LineDigest,
  placeWithRoute,
  recursionPlace,
  rootBacktrace,
} from '../../model/stacks/code-place.js'
import { cleanText } from '../../model/text.js'
import { callbackContext } from '../callback-context.js'
import type { Draft, Step, StepContext } from '../draft.js'
import { isObject } from '../values/is-object.js'

/** Determines the location in the host's code and the group of the error. */
export const sign: Step = (draft, context) => {
  const location = signedPlace(draft, context)
  draft.place = location.place
  draft.signature_place = location.frames
  draft.backtrace = cachedPlace(draft.backtrace, draft, context).relative
  if (draft.causes.length > 0) draft.causes = draft.causes.map((cause) => relativeCause(cause, draft, context))
  draft.hash_signature = cachedSignature(location, draft)
  const fingerprint = customFingerprint(draft, context) ?? clientFingerprint(draft)
  if (fingerprint) draft.hash_signature = fingerprintSignature(fingerprint, draft.source)
  else shareGroupInFlood(draft, location, context)
}

function shareGroupInFlood(draft: Draft, location: SignedPlace, { floods, count, now }: StepContext): void {
  const sharedType = floods.sharedType(location.key, draft, now())
  if (sharedType === null) return
  if (sharedType !== draft.error_type) {
    draft.message = `${draft.error_type}: ${draft.message}`
    draft.error_type = sharedType
  }
  draft.hash_signature = computeSignature(location, draft, MANY_MESSAGES, null)
  count('flood_shares_a_group')
}

/** Location of a backtrace, and the errors last signed there. */
interface SignedPlace {
  project_root: string
  isClient: boolean
  place: string | null
  /** The backtrace with paths relative to the root. */
  relative: readonly string[]
  frames: readonly string[]
  key: string
  lastSigned: LastSigned | null
  signatures: Map<string, string>
  /** Alternative locations for the same backtrace: by route if the source cannot be read, and for a stack overflow. */
  variants: Map<string, SignedPlace> | null
}

type LastSigned = Pick<Draft, 'error_type' | 'message' | 'hash_signature'> & {
  source: Draft['source']
  rootCause: string | null
  /** The message without its variable parts. */
  signedMessage: string
}

/** Maximum number of cached signatures per location. Most locations have one or two. */
const MAX_SIGNATURES = 20

/** Repeats from one location share one backtrace array (see thrown-value.ts), so a storm mostly needs lookups. */
const places = new WeakMap<readonly string[], SignedPlace>()

function cachedPlace(backtrace: readonly string[], { source }: Draft, context: StepContext): SignedPlace {
  const { project_root } = context.config
  const isClient = source !== undefined
  const cached = places.get(backtrace)
  // Two trackers in one process can have different roots.
  if (cached?.project_root === project_root && cached.isClient === isClient) return cached
  const frames = codePlace(backtrace, project_root, lineDigest(isClient, context))
  const place: SignedPlace = {
    lastSigned: null,
    signatures: new Map(),
    variants: null,
    project_root,
    isClient,
    place: displayLocation(backtrace, project_root),
    relative: relativeLines(backtrace, project_root),
    frames,
    key: frames.join('\n'),
  }
  places.set(backtrace, place)
  return place
}

/** Omitted for clients, because the files that a client names are never read. */
function lineDigest(isClient: boolean, { sourceLines }: StepContext): LineDigest | undefined {
  return isClient ? undefined : (frame, isCaller) => sourceLines.digest(frame, isCaller)
}

/** Returns the location used for grouping. */
function signedPlace(draft: Draft, context: StepContext): SignedPlace {
  const backtrace = rootBacktrace(draft, context.config.project_root)
  const location = cachedPlace(backtrace, draft, context)
  if (isStackOverflow(draft)) {
    return placeVariant(location, 'overflow', () =>
      recursionPlace(backtrace, context.config.project_root, lineDigest(location.isClient, context)),
    )
  }
  const route = !location.isClient && isPlaceByLineNumber(location.frames) ? requestRoute(draft) : null
  return route === null
    ? location
    : placeVariant(location, `route ${route}`, () => placeWithRoute(location.frames, route))
}

/** Maximum number of cached variants per location. */
const MAX_VARIANTS = 50

function placeVariant(location: SignedPlace, name: string, computeFrames: () => readonly string[]): SignedPlace {
  location.variants ??= new Map()
  const cached = location.variants.get(name)
  if (cached) return cached
  if (location.variants.size >= MAX_VARIANTS) location.variants.clear()
  const frames = computeFrames()
  const created: SignedPlace = {
    ...location,
    frames,
    key: frames.join('\n'),
    lastSigned: null,
    signatures: new Map(),
    variants: null,
  }
  location.variants.set(name, created)
  return created
}

/** Route pattern of the request, such as `/users/:id`. A path with real values would be a separate location. */
function requestRoute({ request }: Draft): string | null {
  if (!isObject(request)) return null
  try {
    const { method, route } = request as { method?: unknown; route?: unknown }
    return typeof route === 'string' && route !== '' ? cleanText(`${String(method ?? '')} ${route}`, 300) : null
  } catch {
    // A host getter threw.
    return null
  }
}

function relativeCause(cause: Cause, draft: Draft, context: StepContext): Cause {
  const { relative } = cachedPlace(cause.backtrace, draft, context)
  const causes = cause.causes?.map((inner) => relativeCause(inner, draft, context))
  return { ...cause, backtrace: relative, ...(causes ? { causes } : {}) }
}

function cachedSignature(location: SignedPlace, draft: Draft): string {
  const { error_type, message, source } = draft
  const rootCause = draft.causes.length > 0 ? wrappedRootCause(draft) : null
  const { lastSigned } = location
  const isSameKind =
    lastSigned?.error_type === error_type && lastSigned.source === source && lastSigned.rootCause === rootCause
  if (isSameKind && lastSigned.message === message) return lastSigned.hash_signature
  const signedMessage = signatureMessage(draft)
  if (isSameKind && lastSigned.signedMessage === signedMessage) return lastSigned.hash_signature
  const hash_signature = computeSignature(location, draft, signedMessage, rootCause)
  location.lastSigned = { error_type, message, source, rootCause, signedMessage, hash_signature }
  return hash_signature
}

/** Computes one hash for all messages that differ only in variable parts. */
function computeSignature(
  { signatures, frames }: SignedPlace,
  { error_type, source }: Draft,
  message: string,
  rootCause: string | null,
): string {
  const key = `${source ?? ''}\n${error_type}\n${rootCause ?? ''}\n${message}`
  const cached = signatures.get(key)
  if (cached) return cached
  const hash_signature = errorSignature({ error_type, message, root_cause: rootCause, place: frames, source })
  if (signatures.size >= MAX_SIGNATURES) signatures.clear()
  signatures.set(key, hash_signature)
  return hash_signature
}

const DEFAULT_PART = /^\{\{\s*default\s*\}\}$/

/** Fingerprint requested by a client, unless it is only the default. */
function clientFingerprint({ fingerprint, hash_signature }: Draft): string | null {
  if (!fingerprint || fingerprint.every((part) => DEFAULT_PART.test(part))) return null
  return fingerprint.map((part) => (DEFAULT_PART.test(part) ? hash_signature : part)).join('\n')
}

function customFingerprint(draft: Draft, { config, reportFailure }: StepContext): string | null {
  if (!config.custom_fingerprint) return null
  try {
    const fingerprint = config.custom_fingerprint(draft.thrown, callbackContext(draft))
    return typeof fingerprint === 'string' && fingerprint !== '' ? fingerprint : null
  } catch (error) {
    reportFailure('custom_fingerprint', error)
    return null
  }
}
