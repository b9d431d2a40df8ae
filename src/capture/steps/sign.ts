import { culprit, placeText } from '../../model/backtrace.js'
import { fingerprintSignature, placeOf, signatureOf } from '../../model/signature.js'
import { cleanText } from '../../model/text.js'
import { callbackContext } from '../callback-context.js'
import type { Draft, Step, StepContext } from '../draft.js'

/** Finds the place in the host's code and the group the error belongs to. */
export const sign: Step = (draft, context) => {
  const at = placeOnce(rootBacktrace(draft, context), context)
  draft.place = at.place
  draft.hash_signature = signatureAt(at, draft)
  const fingerprint = fingerprintOf(draft, context)
  if (fingerprint) draft.hash_signature = fingerprintSignature(fingerprint)
}

/** What a backtrace says about the place, and the last error that was signed there. */
interface Place {
  project_root: string | null
  place: string | null
  frames: readonly string[]
  last: { error_type: string; message: string; hash_signature: string } | null
}

/** Repeats from one place share one backtrace array (see thrown-value.ts), so most of a storm is placed by look-up. */
const places = new WeakMap<readonly string[], Place>()

function placeOnce(backtrace: readonly string[], { config: { project_root } }: StepContext): Place {
  const known = places.get(backtrace)
  // Two trackers of one process may have different roots.
  if (known?.project_root === project_root) return known
  const frame = culprit(backtrace, project_root ?? '')
  const place: Place = {
    last: null,
    project_root,
    place: frame ? cleanText(placeText(frame), 500) : null,
    frames: placeOf(backtrace, project_root ?? ''),
  }
  places.set(backtrace, place)
  return place
}

function signatureAt(at: Place, { error_type, message }: Draft): string {
  if (at.last?.error_type === error_type && at.last.message === message) return at.last.hash_signature
  const hash_signature = signatureOf({ error_type, message, place: at.frames })
  at.last = { error_type, message, hash_signature }
  return hash_signature
}

/** The place that tells where it went wrong is that of the innermost cause that came by the host's own code. */
function rootBacktrace(draft: Draft, { config }: StepContext): readonly string[] {
  let { backtrace } = draft
  for (let causes = draft.causes; ; ) {
    const cause = causes.find(({ relation }) => relation === 'cause')
    if (!cause) return backtrace
    if (backtrace.length === 0 || culprit(cause.backtrace, config.project_root ?? '')?.in_app)
      backtrace = cause.backtrace
    causes = cause.causes ?? []
  }
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
