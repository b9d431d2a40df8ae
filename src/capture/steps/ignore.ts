import type { ErrorMatcher } from '../../config/kinds.js'
import type { Draft, Step } from '../draft.js'

/** Drops errors that match `ignored_exceptions`. */
export const ignore: Step = (draft, { config, reportFailure }) => {
  try {
    return config.ignored_exceptions.some((matcher) => isMatch(matcher, draft)) ? 'ignored' : undefined
  } catch (error) {
    // `instanceof` can run host code (a thrown Proxy, a class with Symbol.hasInstance).
    reportFailure('ignored_exceptions', error)
  }
}

function isMatch(matcher: ErrorMatcher, { error_type, thrown }: Draft): boolean {
  if (typeof matcher === 'string') return matcher === error_type
  if (matcher instanceof RegExp) {
    matcher.lastIndex = 0
    return matcher.test(error_type)
  }
  return thrown instanceof matcher
}
