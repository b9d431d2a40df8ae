import { closingOf } from './masked-source.js'
import type { Statement } from './statements.js'

/** Whether an expression is a function that is written right there. */
export function isFunction(masked: string): boolean {
  const bare = masked.trim().replace(/^async(?![\w$])\s*/, '')
  if (/^function(?![\w$])|^[\w$]+\s*=>/.test(bare)) return true
  const rest = bare.startsWith('(') ? bare.slice(closingOf(bare, 0) + 1) : ''
  return /^\s*(:[^=(]+)?=>/.test(rest)
}

/** The name of the function that a statement declares, if that is what it does. */
export function declaredFunction({ masked }: Statement): string | null {
  const [, own] = /^(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s+([\w$]+)\s*[(<]/.exec(masked) ?? []
  if (own !== undefined) return own
  const [head, name] = /^(?:export\s+)?(?:const|let|var)\s+([\w$]+)(?:\s*:[^=]+)?\s*=(?!>)\s*/.exec(masked) ?? []
  return head !== undefined && name !== undefined && isFunction(masked.slice(head.length)) ? name : null
}
