import { literalEnd } from './literal-end.js'

const OPENING = new Set(['(', '[', '{'])
const CLOSING: Record<string, string> = { ')': '(', ']': '[', '}': '{' }

/**
 * JavaScript or TypeScript of the same length and lines in which only code is left: comments are blank, texts are
 * underscores. null where the brackets do not match: then it is something that is not understood here (JSX, for one).
 */
export function mask(source: string): string | null {
  const out = source.split('')
  const open: string[] = []
  let last = ''
  let word = ''
  const hide = (from: number, to: number, by: string) => {
    for (let i = from; i < to && i < out.length; i++) if (out[i] !== '\n') out[i] = by
  }
  const shebang = /^\uFEFF?#!.*/.exec(source)?.[0].length ?? 0
  hide(0, shebang, ' ')
  for (let i = shebang; i < source.length; i++) {
    const here = source[i] ?? ''
    const next = source[i + 1]
    if (here === '/' && (next === '/' || next === '*')) {
      const end = next === '/' ? endOfLine(source, i) : endAfter(source, '*/', i + 2)
      hide(i, end, ' ')
      i = end - 1
      continue
    }
    const end = literalEnd(source, i, last, word)
    if (end > i) {
      hide(i + 1, end - 1, '_')
      i = end - 1
      last = '_'
      word = ''
      continue
    }
    if (OPENING.has(here)) open.push(here)
    if (CLOSING[here] !== undefined && open.pop() !== CLOSING[here]) return null
    if (/\s/.test(here)) continue
    word = /[\w$]/.test(here) ? (/[\w$]/.test(source[i - 1] ?? '') ? word + here : here) : ''
    last = here
  }
  return open.length === 0 ? out.join('') : null
}

/** Where the bracket that opens at this place closes, or -1. */
export function closingOf(masked: string, at: number): number {
  let depth = 0
  for (let i = at; i < masked.length; i++) {
    const character = masked[i] ?? ''
    if (OPENING.has(character)) depth++
    if (CLOSING[character] !== undefined && --depth === 0) return i
  }
  return -1
}

function endOfLine(source: string, at: number): number {
  const end = source.indexOf('\n', at)
  return end === -1 ? source.length : end
}

function endAfter(source: string, text: string, at: number): number {
  const end = source.indexOf(text, at)
  return end === -1 ? source.length : end + text.length
}
