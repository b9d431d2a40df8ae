import type { ErrorMatcher } from '../../config/kinds.js'
import type { Draft, Step } from '../draft.js'

/** Leaves out what the host never wants to see. */
export const ignore: Step = (draft, { config, complain }) => {
  try {
    return config.ignored_exceptions.some((matcher) => isMatch(matcher, draft)) ? 'ignored' : undefined
  } catch (error) {
    // `instanceof` runs code of the host (a Proxy that was thrown, a class with Symbol.hasInstance).
    complain('ignored_exceptions', error)
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
