import type MagicString from 'magic-string'
import { formatMark, GLOBALS, type Site } from '../site.js'
import { redefines } from './bindings.js'
import { type Node, someUnguardedNode } from './syntax.js'

/** Returns the displayed location of an offset, or null if the code does not belong to the host. */
export type Locate = (offset: number) => string | null

/** Builds the call that counts the error in a variable as caught. */
export function caughtCall(name: string, site: Site): string {
  return `globalThis.${GLOBALS.caught}?.(${name},${JSON.stringify(formatMark(site))})`
}

/**
 * Builds the same call as a statement. The call itself can overflow the stack, so it is guarded: the host's handler must
 * continue.
 */
export function caughtStatement(name: string, site: Site): string {
  return `try{${caughtCall(name, site)}}catch{}`
}

/** Builds the text after a thrown value. `replacedName` is the caught error that the thrown value replaces, if any. */
export function thrownSuffix(site: Site, replacedName: string | null): string {
  const mark = JSON.stringify(formatMark(site))
  return `].reduceRight(globalThis.${GLOBALS.thrown}||((s,e)=>e),${replacedName === null ? mark : `[${mark},${replacedName}]`})`
}

/** Builds the text after a handler passed by reference. */
export function handlerSuffix(site: Site): string {
  return `].reduceRight(globalThis.${GLOBALS.handler}||((s,f)=>f),${JSON.stringify(formatMark(site))})`
}

/** Opens the array around a value. Replaces a blank if possible, so that columns stay unchanged. */
export function openArray(text: MagicString, offset: number): void {
  if (/[ \t]/.test(text.original.charAt(offset))) text.update(offset, offset + 1, '[')
  else text.appendLeft(offset, '[')
}

export interface CaughtVariable {
  /** Name that refers to the caught error until the end of the block. */
  name: string
  /** Declaration to insert at the start of the block. Empty if none is needed. */
  declaration: string
}

/** Copies the caught error to another variable if the block redefines its name and can throw another error. */
export function caughtVariable(body: Node, name: string): CaughtVariable {
  const needsCopy = name !== GLOBALS.error && someUnguardedNode(body, isThrow) && redefines(body, name)
  return needsCopy ? { name: GLOBALS.error, declaration: `const ${GLOBALS.error}=${name};` } : { name, declaration: '' }
}

function isThrow({ type }: Node): boolean {
  return type === 'ThrowStatement'
}
