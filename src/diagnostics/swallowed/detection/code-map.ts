import { mapTextIn } from '../../../capture/source-maps/map-text.js'
import { type OriginalPosition, ParsedMap } from '../../../capture/source-maps/parsed-map.js'
import type { ProjectFiles } from '../../../capture/source-maps/project-files.js'
import type { EditedLines } from './edits.js'
import { shiftedMappings } from './shifted-mappings.js'

/** The source map of code that is about to run. */
export interface CodeMap {
  find(line: number, column: number): OriginalPosition | null
  /** The marked code with a map that fits it. */
  shifted(code: string, lines: EditedLines): string
}

export interface CodeMapOptions {
  files: ProjectFiles
  file: string
  root: string
  /** Whether Node.js itself reads maps: then even one in a file of its own has to come with the code. */
  source_maps_enabled: boolean
}

const MAX_MAP_BYTES = 20_000_000
const COMMENT = /\/\/# sourceMappingURL=(\S+)[^\n]*/g

/** The map that code names in its last comment; null where it names none. Throws where there is one that cannot be used. */
export function codeMapOf(code: string, { files, file, root, source_maps_enabled }: CodeMapOptions): CodeMap | null {
  if (!code.includes('sourceMappingURL=')) return null
  const bytes = Buffer.from(code)
  const opened = { path: file, size: bytes.length, tail: (count: number) => bytes.subarray(-count) }
  const found = mapTextIn(files, opened, MAX_MAP_BYTES)
  if (found === null) return null
  if (typeof found === 'string') {
    // Node.js would read it, and take our columns for those it was made for.
    if (source_maps_enabled && found !== 'map_missing' && found !== 'map_remote') throw new Error(found)
    return null
  }
  const parsed = ParsedMap.parse(found, MAX_MAP_BYTES, root)
  if (parsed === null) throw new RangeError('the map is too large')
  const comment = [...code.matchAll(COMMENT)].at(-1)
  const is_inline = /^data:/i.test(comment?.[1] ?? '')
  return {
    find: (line, column) => parsed.find(line, column),
    shifted(marked, lines) {
      if (!comment || !(is_inline || source_maps_enabled)) return marked
      const json = JSON.parse(found.whole())
      if (typeof json.mappings !== 'string') throw new TypeError('a map of sections')
      json.mappings = shiftedMappings(json.mappings, lines)
      if (!is_inline) json.sourceRoot = sourceRootIn(found.folder, json.sourceRoot)
      const data = Buffer.from(JSON.stringify(json)).toString('base64')
      const url = `data:application/json;base64,${data}`
      const at = marked.lastIndexOf(comment[0])
      return `${marked.slice(0, at)}//# sourceMappingURL=${url}${marked.slice(at + comment[0].length)}`
    },
  }
}

/** What is inline is taken to lie beside the code, whereas the map may have come from another folder. */
function sourceRootIn(folder: string, given: unknown): string {
  const root = typeof given === 'string' ? given : ''
  if (/^(?:\/|[a-z][a-z0-9+.-]*:)/i.test(root)) return root
  return `file://${encodeURI(folder)}/${root === '' || root.endsWith('/') ? root : `${root}/`}`
}
