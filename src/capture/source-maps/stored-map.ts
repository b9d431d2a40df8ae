import { parseFrame } from '../../model/stacks/backtrace.js'
import { declarationOf, offsetOf, positionAt } from './declared-name.js'
import type { OriginalPosition, ParsedMap } from './parsed-map.js'

/** Where the paths of stored maps begin: they are only shown, and nothing of this machine is in them. */
export const VIRTUAL_ROOT = '/'

const LINE_LIMIT = 1000
/** A name of so few letters that the map does not know was most likely made by a minifier: another build has another. */
const SHORT_NAME = 2

/** A place in a script that runs elsewhere. */
export interface ScriptPlace {
  line: number
  column: number
  name: string | null
}

/** A map that was uploaded, with the script it belongs to. */
export class StoredMap {
  readonly bytes: number
  readonly #map: ParsedMap
  readonly #code: string | null

  constructor(map: ParsedMap, code: string | null) {
    this.#map = map
    this.#code = code
    this.bytes = map.bytes + (code?.length ?? 0)
  }

  /** The frame's line in the original source, or null where the map does not tell. */
  lineAt(place: ScriptPlace): string | null {
    const position = this.#map.find(place.line, place.column)
    if (!position) return null
    const at = `${shownPath(position.path)}:${position.line}:${position.column}`
    const name = this.#nameOf(place)
    const line = name === '' ? `at ${at}` : `at ${name} (${at})`
    return isReadBack(line, position, name) ? line : null
  }

  /** By its declaration, not by its call: each browser has another column for that. */
  #nameOf({ line, column, name }: ScriptPlace): string {
    if (name === null || !this.#map.has_names) return name ?? ''
    const code = this.#code
    const at = code === null ? null : declarationOf(code, offsetOf(code, line, column), name)
    if (code === null || at === null) return name.length <= SHORT_NAME ? '' : name
    const declared = positionAt(code, at)
    return this.#map.find(declared.line, declared.column)?.name ?? name
  }
}

/** A path below the virtual root as stacks show it; an address stays one. */
export function shownPath(path: string): string {
  return path.startsWith(VIRTUAL_ROOT) ? path.slice(VIRTUAL_ROOT.length) : path
}

/** The name of a source is the map's to choose: it must not become another frame. */
function isReadBack(text: string, { line, column }: OriginalPosition, name: string): boolean {
  if (text.length > LINE_LIMIT) return false
  const frame = parseFrame(text, '')
  return frame.line_number === line && frame.column === column && (frame.function_name ?? '') === name
}
