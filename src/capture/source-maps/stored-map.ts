import { parseFrame } from '../../model/stacks/backtrace.js'
import { declarationOf, offsetOf, positionAt } from './declared-name.js'
import type { OriginalPosition, ParsedMap } from './parsed-map.js'

/** Root of the paths in stored maps. They are only displayed and match no local file. */
export const VIRTUAL_ROOT = '/'

const LINE_LIMIT = 1000
/** A short name that the map does not contain was probably created by a minifier, and differs between builds. */
const SHORT_NAME = 2

/** A position in a script that runs elsewhere. */
export interface ScriptPlace {
  line: number
  column: number
  name: string | null
}

/** An uploaded map with its script. */
export class StoredMap {
  readonly bytes: number
  readonly #map: ParsedMap
  readonly #code: string | null

  constructor(map: ParsedMap, code: string | null) {
    this.#map = map
    this.#code = code
    this.bytes = map.bytes + (code?.length ?? 0)
  }

  /** The stack line in the original source; null if the map has no position for it. */
  lineAt(place: ScriptPlace): string | null {
    const position = this.#map.find(place.line, place.column)
    if (!position) return null
    const at = `${shownPath(position.path)}:${position.line}:${position.column}`
    const name = this.#nameOf(place)
    const line = name === '' ? `at ${at}` : `at ${name} (${at})`
    return isReadBack(line, position, name) ? line : null
  }

  /** Uses the declaration, not the call: browsers report different columns for calls. */
  #nameOf({ line, column, name }: ScriptPlace): string {
    if (name === null || !this.#map.has_names) return name ?? ''
    const code = this.#code
    const at = code === null ? null : declarationOf(code, offsetOf(code, line, column), name)
    if (code === null || at === null) return name.length <= SHORT_NAME ? '' : name
    const declared = positionAt(code, at)
    return this.#map.find(declared.line, declared.column)?.name ?? name
  }
}

/** Display form of a path below the virtual root. URLs stay unchanged. */
export function shownPath(path: string): string {
  return path.startsWith(VIRTUAL_ROOT) ? path.slice(VIRTUAL_ROOT.length) : path
}

/** The map controls the source name: it must not produce another frame. */
function isReadBack(text: string, { line, column }: OriginalPosition, name: string): boolean {
  if (text.length > LINE_LIMIT) return false
  const frame = parseFrame(text, '')
  return frame.line_number === line && frame.column === column && (frame.function_name ?? '') === name
}
