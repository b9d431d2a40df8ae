import { literalEnd } from './literal-end.js'

/** One statement at the top level of a file: its lines, and its text with all texts and comments made unreadable. */
export interface Statement {
  /** First line, from 0. */
  readonly start: number
  /** The line after its last. */
  readonly end: number
  readonly masked: string
  readonly text: string
}

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
  for (let i = 0; i < source.length; i++) {
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

/** The statements at the top level, by lines; one line with two statements is one. */
export function statementsOf(source: string, masked: string): Statement[] {
  const lines = masked.split('\n')
  const originals = source.split('\n')
  const found: { start: number; end: number }[] = []
  let depth = 0
  let before = ''
  lines.forEach((line, index) => {
    const code = line.trim()
    if (code === '') return
    const current = found.at(-1)
    if (current && (depth > 0 || continues(before, code))) current.end = index + 1
    else found.push({ start: index, end: index + 1 })
    for (const character of code) {
      if (OPENING.has(character)) depth++
      if (CLOSING[character] !== undefined) depth--
    }
    before = code
  })
  return found.map(({ start, end }) => ({
    start,
    end,
    masked: lines.slice(start, end).join('\n').trim(),
    text: originals.slice(start, end).join('\n').trim(),
  }))
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

/** Whether a line goes on with what the line before it began, at the same depth. */
function continues(before: string, code: string): boolean {
  return /^(\.(?!\.\.)|\?|:|&&|\|\||[+\-*/%=,<>](?!\+|-))/.test(code) || /(=>|[=+\-*/%&|^,.?:<(])$/.test(before)
}

function endOfLine(source: string, at: number): number {
  const end = source.indexOf('\n', at)
  return end === -1 ? source.length : end
}

function endAfter(source: string, text: string, at: number): number {
  const end = source.indexOf(text, at)
  return end === -1 ? source.length : end + text.length
}
