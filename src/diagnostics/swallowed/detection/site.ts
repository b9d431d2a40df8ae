/** Kinds of handlers, from the code in them. Stored as `handler_kind`. */
export type HandlerKind = 'empty' | 'logs' | 'value' | 'may_rethrow' | 'may_report' | 'reference' | 'other'
export type ThrowKind = 'new' | 'variable' | 'constant' | 'rethrow'

/** A `throw`, catch block or promise handler in the host's code. */
export interface Site {
  location: string
  kind: string
  isPromiseHandler: boolean
}

/**
 * Formats a site as the text of its mark. The text is self-contained, so that the loader thread does not have to share a
 * table with the main thread.
 *
 * @example
 * formatMark({ location: 'src/cart.ts:12:5', kind: 'empty', isPromiseHandler: true }) // 'src/cart.ts:12:5#empty@promise'
 */
export function formatMark({ location, kind, isPromiseHandler }: Site): string {
  return `${location}#${kind}${isPromiseHandler ? PROMISE_SUFFIX : ''}`
}

export function parseMark(mark: string): Site {
  const isPromiseHandler = mark.endsWith(PROMISE_SUFFIX)
  // A path can contain "#"; a kind cannot.
  const separator = mark.lastIndexOf('#')
  const kind = mark.slice(separator + 1, isPromiseHandler ? -PROMISE_SUFFIX.length : undefined)
  return { location: mark.slice(0, separator), kind, isPromiseHandler }
}

const PROMISE_SUFFIX = '@promise'

/** Global functions that marks call. They do not exist in browsers and other realms that run the code as text. */
export const GLOBALS = {
  thrown: '__faultboard_thrown',
  caught: '__faultboard_caught',
  handler: '__faultboard_handler',
  /** Parameter name for a handler without a parameter. */
  error: '__faultboard_error',
} as const

/** Prefix of all names in marks. Code that already contains it is not marked. */
export const GLOBALS_PREFIX = '__faultboard_'
