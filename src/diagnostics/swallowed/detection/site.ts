/** What a marked place does: the word that stands behind its location in the mark. */
export type HandlerKind = 'empty' | 'logs' | 'value' | 'may_rethrow' | 'may_report' | 'reference' | 'other'
export type ThrowKind = 'made' | 'variable' | 'constant' | 'rethrow'

/** A marked place, as the text of its mark tells it. */
export interface Site {
  location: string
  kind: string
  /** Whether it is a function that a promise calls. */
  of_promise: boolean
}

/**
 * The text of a mark. It says all there is to know, so that neither a table nor a message has to go from the thread that
 * loads modules to the one that runs them.
 *
 * @example
 * markOf({ location: 'src/cart.ts:12:5', kind: 'empty', of_promise: true }) // 'src/cart.ts:12:5#empty@promise'
 */
export function markOf({ location, kind, of_promise }: Site): string {
  return `${location}#${kind}${of_promise ? OF_PROMISE : ''}`
}

export function siteOf(mark: string): Site {
  const of_promise = mark.endsWith(OF_PROMISE)
  // A path may hold one too; a kind holds none.
  const at = mark.lastIndexOf('#')
  const kind = mark.slice(at + 1, of_promise ? -OF_PROMISE.length : undefined)
  return { location: mark.slice(0, at), kind, of_promise }
}

const OF_PROMISE = '@promise'

/** The functions that marks call. In a browser or another realm, where code may be carried as text, there are none. */
export const GLOBALS = {
  thrown: '__faultboard_thrown',
  caught: '__faultboard_caught',
  handler: '__faultboard_handler',
  /** What is caught where the host gives it no name of its own. */
  error: '__faultboard_error',
} as const

/** How each of them begins; code that says so itself is left alone. */
export const OWN_NAMES = '__faultboard_'
