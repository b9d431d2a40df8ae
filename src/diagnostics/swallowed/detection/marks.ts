import { redefines } from './bindings.js'
import type { Edits } from './edits.js'
import { GLOBALS, markOf, type Site } from './site.js'
import { type Node, someEscapes } from './syntax.js'

/** The location of an offset for people, or null where it is not the host's own code. */
export type Locate = (offset: number) => string | null

/** The call that tells of what was caught under a name. */
export function caughtMark(name: string, site: Site): string {
  return `globalThis.${GLOBALS.caught}?.(${name},${JSON.stringify(markOf(site))})`
}

/**
 * The same call as a statement. Near the end of the stack the call itself overflows, whatever the function does. The
 * handler of the host continues then, as it would without the call.
 */
export function caughtStatement(name: string, site: Site): string {
  return `try{${caughtMark(name, site)}}catch{}`
}

/** What stands behind a value that is thrown; with the name of what was caught, where it is thrown instead of that. */
export function thrownMark(site: Site, instead_of: string | null): string {
  const mark = JSON.stringify(markOf(site))
  return `].reduceRight(globalThis.${GLOBALS.thrown}||((s,e)=>e),${instead_of === null ? mark : `[${mark},${instead_of}]`})`
}

/** What stands behind a handler that is only named. */
export function handlerMark(site: Site): string {
  return `].reduceRight(globalThis.${GLOBALS.handler}||((s,f)=>f),${JSON.stringify(markOf(site))})`
}

/** Begins the list that a value is handed over in, in the place of a blank if there is one. */
export function openList(edits: Edits, code: string, at: number): void {
  if (code[at] === ' ' || code[at] === '\t') edits.replace(at, 1, '[')
  else edits.insert(at, '[')
}

export interface Kept {
  /** By which name what was caught is known down to the end of the block. */
  name: string
  /** What has to be said at its beginning for that. */
  declaration: string
}

/** Under its own name, unless that might stand for something else by the time that another error is thrown instead. */
export function keptIn(body: Node, name: string): Kept {
  const is_lost = name !== GLOBALS.error && someEscapes(body, isThrow) && redefines(body, name)
  return is_lost ? { name: GLOBALS.error, declaration: `const ${GLOBALS.error}=${name};` } : { name, declaration: '' }
}

function isThrow({ type }: Node): boolean {
  return type === 'ThrowStatement'
}
