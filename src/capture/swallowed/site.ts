/** What a marked place does: the word that stands behind its location in the mark. */
export type HandlerKind = 'empty' | 'logs' | 'value' | 'may_rethrow' | 'may_report' | 'reference' | 'other'
export type ThrowKind = 'made' | 'variable' | 'constant' | 'rethrow'

/** A marked place, as the text of its mark tells it. */
export interface Site {
  location: string
  kind: string
  /** For a throw the location of the catch block that it stands in; `promise` for what a promise calls. */
  inside: string | null
}

/**
 * The text of a mark. It says all there is to know, so that neither a table nor a message has to go from the thread that
 * loads modules to the one that runs them.
 *
 * @example
 * markOf({ location: 'src/cart.ts:12:5', kind: 'empty', inside: null }) // 'src/cart.ts:12:5#empty'
 */
export function markOf({ location, kind, inside }: Site): string {
  return inside === null ? `${location}#${kind}` : `${location}#${kind}@${inside}`
}

export function siteOf(mark: string): Site {
  // A path may hold either letter; a kind holds none, and what stands behind it is a location again.
  const match = /^(.*?:\d+:\d+)#([a-z_]+)(?:@(.*))?$/s.exec(mark)
  return { location: match?.[1] ?? mark, kind: match?.[2] ?? 'other', inside: match?.[3] ?? null }
}

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
