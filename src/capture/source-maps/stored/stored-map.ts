import { parseFrame } from '../../../model/stacks/backtrace.js'
import { findDeclaration, offsetToPosition, positionToOffset } from '../declared-name.js'
import type { OriginalPosition, ParsedMap } from '../parsed-map.js'

/** Root of the paths in stored maps. They are only displayed and match no local file. */
export const VIRTUAL_ROOT = '/'

const MAX_LINE_LENGTH = 1000
/** Names up to this length that the map does not contain probably come from a minifier and differ between builds. */
const MAX_MINIFIED_NAME_LENGTH = 2

/** A position in a script that runs elsewhere. */
export interface ScriptPosition {
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

  /** Maps a stack line to the original source. Null if the map has no such position. */
  originalLine(scriptPosition: ScriptPosition): string | null {
    const position = this.#map.find(scriptPosition.line, scriptPosition.column)
    if (!position) return null
    const location = `${displayPath(position.path)}:${position.line}:${position.column}`
    const name = this.#originalName(scriptPosition)
    const line = name === '' ? `at ${location}` : `at ${name} (${location})`
    return isParsedUnchanged(line, position, name) ? line : null
  }

  /** Uses the declaration instead of the call, because browsers report different columns for calls. */
  #originalName({ line, column, name }: ScriptPosition): string {
    if (name === null || !this.#map.hasNames) return name ?? ''
    const code = this.#code
    const offset = code === null ? null : findDeclaration(code, positionToOffset(code, line, column), name)
    if (code === null || offset === null) return name.length <= MAX_MINIFIED_NAME_LENGTH ? '' : name
    const declaration = offsetToPosition(code, offset)
    return this.#map.find(declaration.line, declaration.column)?.name ?? name
  }
}

/** Display form of a path below the virtual root. URLs stay unchanged. */
export function displayPath(path: string): string {
  return path.startsWith(VIRTUAL_ROOT) ? path.slice(VIRTUAL_ROOT.length) : path
}

/** Checks that the text still parses to this frame, because the map controls the source name. */
function isParsedUnchanged(text: string, { line, column }: OriginalPosition, name: string): boolean {
  if (text.length > MAX_LINE_LENGTH) return false
  const frame = parseFrame(text, '')
  return frame.line_number === line && frame.column === column && (frame.function_name ?? '') === name
}
