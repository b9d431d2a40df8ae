import { culprit, placeText } from '../../model/backtrace.js'
import { fingerprintSignature, signatureOf } from '../../model/signature.js'
import { cleanText } from '../../model/text.js'
import { callbackContext } from '../callback-context.js'
import type { Draft, Step, StepContext } from '../draft.js'

/** Finds the place in the host's code and the group the error belongs to. */
export const sign: Step = (draft, context) => {
  const known = draft.causes.length === 0 ? signed.get(draft.backtrace) : undefined
  if (known && isSame(known, draft, context)) {
    draft.place = known.place
    draft.hash_signature = known.hash_signature
  } else {
    signAnew(draft, context)
  }
  const fingerprint = fingerprintOf(draft, context)
  if (fingerprint) draft.hash_signature = fingerprintSignature(fingerprint)
}

/** Repeats from one place share one backtrace array (see thrown-value.ts), so most of a storm is signed by look-up. */
const signed = new WeakMap<readonly string[], Signed>()

interface Signed {
  error_type: string
  message: string
  project_root: string | null
  place: string | null
  hash_signature: string
}

/** Two trackers of one process may have different roots. */
function isSame({ error_type, message, project_root }: Signed, draft: Draft, { config }: StepContext): boolean {
  return error_type === draft.error_type && message === draft.message && project_root === config.project_root
}

function signAnew(draft: Draft, { config }: StepContext): void {
  const project_root = config.project_root ?? ''
  const { error_type, message, backtrace } = draft
  const frame = culprit(rootBacktrace(draft), project_root)
  draft.place = frame ? cleanText(placeText(frame), 500) : null
  draft.hash_signature = signatureOf({ error_type, message, backtrace: rootBacktrace(draft), project_root })
  if (draft.causes.length > 0) return
  const { place, hash_signature } = draft
  signed.set(backtrace, { error_type, message, project_root: config.project_root, place, hash_signature })
}

/** The place that tells where it went wrong is that of the innermost cause. */
function rootBacktrace(draft: Draft): readonly string[] {
  let { backtrace } = draft
  for (let causes = draft.causes; ; ) {
    const cause = causes.find(({ relation }) => relation === 'cause')
    if (!cause) return backtrace
    if (cause.backtrace.length > 0) backtrace = cause.backtrace
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
