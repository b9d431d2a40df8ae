import { isAbsolute, relative, sep } from 'node:path'
import { GLOBALS_PREFIX } from '../site.js'
import { shadowsGlobalThis } from './bindings.js'
import type { CodeMap } from './code-map.js'
import { type EditedLines, Edits } from './edits.js'
import { Marker } from './marker.js'
import { parseProgram, programType, type SourceType } from './syntax.js'

export interface MarkedCode {
  code: string
  /** Edits that convert columns of the running code to columns of the file. */
  lines: EditedLines
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

/**
 * Marks the sites in a file that throw and catch, without moving lines. Returns null if there is nothing to mark or the
 * code cannot be marked safely.
 */
export function transform(
  code: string,
  { file, root, types, map = null, onUnreadable }: TransformOptions,
): MarkedCode | null {
  if (!MAY_THROW_OR_CATCH.test(code) || code.includes(GLOBALS_PREFIX)) return null
  const program = parseProgram(code, types)
  if (!program) {
    onUnreadable?.()
    return null
  }
  if (shadowsGlobalThis(code, program)) return null
  const edits = new Edits(code)
  const filePath = projectPath(file, root)
  new Marker(code, program, edits, (offset) => {
    const { line, column } = edits.position(offset)
    const original = map?.find(line, column)
    if (!original) return filePath === null ? null : `${filePath}:${line}:${column}`
    // Most code in a bundle belongs to libraries.
    const originalPath = projectPath(original.path, root)
    return originalPath === null ? null : `${originalPath}:${original.line}:${original.column}`
  }).mark(program)
  if (edits.size === 0) return null
  const { code: marked, lines } = edits.apply()
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
