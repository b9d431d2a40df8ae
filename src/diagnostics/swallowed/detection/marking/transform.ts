import { isAbsolute, relative, sep } from 'node:path'
import MagicString from 'magic-string'
import { GLOBALS_PREFIX } from '../site.js'
import { shadowsGlobalThis } from './bindings.js'
import type { CodeMap } from './code-map.js'
import { Marker } from './marker.js'
import { type ShiftedLines, shiftedLines } from './shifted-lines.js'
import { parseProgram, programType, type SourceType } from './syntax.js'

export interface MarkedCode {
  code: string
  /** Converts columns of the running code to columns of the file. */
  lines: ShiftedLines
}

export interface TransformOptions {
  file: string
  root: string
  /** Possible source types, the most likely first. */
  types: readonly SourceType[]
  map?: CodeMap | null
  /** Called for a file with a `throw` or catch that cannot be parsed. */
  onUnreadable?: () => void
}

const MAY_THROW_OR_CATCH = /\bcatch\b|\bthrow\b|\.then\s*\(/
/** Line breaks that magic-string does not count. */
const UNUSUAL_LINE_BREAK = /\r(?!\n)|[\u2028\u2029]/

/**
 * Marks the sites in a file that throw and catch, without moving lines. Returns null if there is nothing to mark or the
 * code cannot be marked safely.
 */
export function transform(
  code: string,
  { file, root, types, map = null, onUnreadable }: TransformOptions,
): MarkedCode | null {
  if (!MAY_THROW_OR_CATCH.test(code) || code.includes(GLOBALS_PREFIX) || UNUSUAL_LINE_BREAK.test(code)) return null
  const program = parseProgram(code, types)
  if (!program) {
    onUnreadable?.()
    return null
  }
  if (shadowsGlobalThis(code, program)) return null
  const text = new MagicString(code)
  const filePath = projectPath(file, root)
  const position = createLocator(code)
  new Marker(text, program, (offset) => {
    const { line, column } = position(offset)
    const original = map?.find(line, column)
    if (!original) return filePath === null ? null : `${filePath}:${line}:${column}`
    // Most code in a bundle belongs to libraries.
    const originalPath = projectPath(original.path, root)
    return originalPath === null ? null : `${originalPath}:${original.line}:${original.column}`
  }).mark(program)
  const marked = text.toString()
  if (marked === code) return null
  const lines = shiftedLines(text)
  const result = map ? map.withShiftedMap(marked, lines) : marked
  // Runs the original code if a mark broke the syntax.
  return parseProgram(result, [programType(program)]) ? { code: result, lines } : null
}

/** Returns the path relative to the project, or null for a path outside of it or in a library. */
function projectPath(path: string, root: string): string | null {
  const inside = relative(root, path)
  if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) return null
  const normalized = sep === '/' ? inside : inside.replaceAll(sep, '/')
  return /(?:^|\/)node_modules\//.test(normalized) ? null : normalized
}

/** Converts offsets to lines and columns, both starting at one. Searches from the last position, because offsets are close. */
function createLocator(code: string): (offset: number) => { line: number; column: number } {
  let line = 1
  let start = 0
  return (offset) => {
    for (; offset < start; line--) start = start < 2 ? 0 : code.lastIndexOf('\n', start - 2) + 1
    for (let end = code.indexOf('\n', start); end !== -1 && end < offset; end = code.indexOf('\n', start)) {
      start = end + 1
      line++
    }
    return { line, column: offset - start + 1 }
  }
}
