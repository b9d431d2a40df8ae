import { isAbsolute, relative, sep } from 'node:path'
import { hidesGlobal } from './bindings.js'
import type { CodeMap } from './code-map.js'
import { type EditedLines, Edits } from './edits.js'
import { Marker } from './marker.js'
import { OWN_NAMES } from './site.js'
import { parsed, type SourceType, typeOf } from './syntax.js'

export interface Transformed {
  code: string
  /** What was added, so that columns of the running code can be told as those of the file. */
  lines: EditedLines
}

export interface TransformOptions {
  file: string
  root: string
  /** Which kinds of module it may be, the likelier first. */
  types: readonly SourceType[]
  map?: CodeMap | null
  /** Told of a file that looks as if it could be marked and does not parse. */
  onUnreadable?: () => void
}

const MAY_THROW_OR_CATCH = /\bcatch\b|\bthrow\b|\.then\s*\(/

/**
 * Marks the places of a file that throw and catch, or gives null where there is nothing to mark or any doubt about it.
 * Every line stays where it is.
 */
export function transform(
  code: string,
  { file, root, types, map = null, onUnreadable }: TransformOptions,
): Transformed | null {
  if (!MAY_THROW_OR_CATCH.test(code) || code.includes(OWN_NAMES)) return null
  const program = parsed(code, types)
  if (!program) {
    onUnreadable?.()
    return null
  }
  if (hidesGlobal(code, program)) return null
  const edits = new Edits(code)
  const own = locationPath(file, root)
  new Marker(code, program, edits, (offset) => {
    const { line, column } = edits.position(offset)
    const original = map?.find(line, column)
    if (!original) return own === null ? null : `${own}:${line}:${column}`
    // In a bundle, most of the code is that of libraries.
    const path = locationPath(original.path, root)
    return path === null ? null : `${path}:${original.line}:${original.column}`
  }).mark(program)
  if (edits.size === 0) return null
  const { code: marked, lines } = edits.apply()
  const runs = map ? map.shifted(marked, lines) : marked
  // Whatever we have overlooked: a host must start.
  return parsed(runs, [typeOf(program)]) ? { code: runs, lines } : null
}

/** Relative to the project, or null for what lies outside of it or in a library. */
function locationPath(path: string, root: string): string | null {
  const inside = relative(root, path)
  if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) return null
  const plain = sep === '/' ? inside : inside.replaceAll(sep, '/')
  return /(?:^|\/)node_modules\//.test(plain) ? null : plain
}
