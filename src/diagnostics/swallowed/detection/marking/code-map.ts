import { findMapText } from '../../../../capture/source-maps/map-text.js'
import { type OriginalPosition, ParsedMap } from '../../../../capture/source-maps/parsed-map.js'
import type { ProjectFiles } from '../../../../capture/source-maps/project-files.js'
import { markedColumn, type ShiftedLines } from './shifted-lines.js'

/** Source map of a module that is being loaded. */
export interface CodeMap {
  find(line: number, column: number): OriginalPosition | null
  /** Returns the marked code with its source map adjusted to the edits. */
  withShiftedMap(code: string, lines: ShiftedLines): string
}

export interface CodeMapOptions {
  files: ProjectFiles
  file: string
  root: string
  /** True if Node.js applies source maps. If so, an external map must be inlined to be adjusted. */
  sourceMapsEnabled: boolean
}

const MAX_MAP_BYTES = 20_000_000
const MAP_COMMENT = /\/\/# sourceMappingURL=(\S+)[^\n]*/g

/** Reads the source map that code refers to, or returns null without one. Throws if a map cannot be adjusted. */
export function readCodeMap(code: string, { files, file, root, sourceMapsEnabled }: CodeMapOptions): CodeMap | null {
  if (!code.includes('sourceMappingURL=')) return null
  const bytes = Buffer.from(code)
  const opened = { path: file, size: bytes.length, tail: (count: number) => bytes.subarray(-count) }
  const found = findMapText(files, opened, MAX_MAP_BYTES)
  if (found === null) return null
  if (typeof found === 'string') {
    // Node.js would apply this map to the columns of the marked code.
    if (sourceMapsEnabled && found !== 'map_missing' && found !== 'map_remote') throw new Error(found)
    return null
  }
  const parsed = ParsedMap.parse(found, MAX_MAP_BYTES, root)
  if (parsed === null) throw new RangeError('The source map is too large')
  const comment = [...code.matchAll(MAP_COMMENT)].at(-1)
  const isInline = /^data:/i.test(comment?.[1] ?? '')
  return {
    find: (line, column) => parsed.find(line, column),
    withShiftedMap(marked, lines) {
      if (!comment || !(isInline || sourceMapsEnabled)) return marked
      const json = JSON.parse(found.withContents())
      if (typeof json.mappings !== 'string') throw new TypeError('Indexed source maps are not supported')
      json.mappings = shiftMappings(json.mappings, lines)
      if (!isInline) json.sourceRoot = absoluteSourceRoot(found.folder, json.sourceRoot)
      const data = Buffer.from(JSON.stringify(json)).toString('base64')
      const url = `data:application/json;base64,${data}`
      const start = marked.lastIndexOf(comment[0])
      return `${marked.slice(0, start)}//# sourceMappingURL=${url}${marked.slice(start + comment[0].length)}`
    },
  }
}

/** Needed because paths in an inline map are relative to the code, and an external map can be in another folder. */
function absoluteSourceRoot(folder: string, sourceRoot: unknown): string {
  const root = typeof sourceRoot === 'string' ? sourceRoot : ''
  if (/^(?:\/|[a-z][a-z0-9+.-]*:)/i.test(root)) return root
  return `file://${encodeURI(folder)}/${root === '' || root.endsWith('/') ? root : `${root}/`}`
}

/**
 * Adjusts mappings to shifted lines. Changes only the generated columns of these lines. All other fields are relative to
 * the previous segment, so they stay valid.
 */
function shiftMappings(mappings: string, shiftedLines: ShiftedLines): string {
  const lines = mappings.split(';')
  for (const [line, pairs] of shiftedLines) {
    const segments = lines[line - 1]
    if (!segments) continue
    let before = 0
    let after = 0
    lines[line - 1] = segments
      .split(',')
      .map((segment) => {
        const { value, length } = decodeVlq(segment)
        before += value
        const column = markedColumn(pairs, before)
        const shifted = encodeVlq(column - after) + segment.slice(length)
        after = column
        return shifted
      })
      .join(',')
  }
  return lines.join(';')
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const CONTINUATION_BIT = 32

function decodeVlq(text: string): { value: number; length: number } {
  let value = 0
  let shift = 0
  for (let i = 0; i < text.length; i++) {
    const digit = BASE64.indexOf(text[i] as string)
    if (digit < 0 || shift > 30) break
    value |= (digit & (CONTINUATION_BIT - 1)) << shift
    shift += 5
    if (digit < CONTINUATION_BIT) return { value: value & 1 ? -(value >>> 1) : value >>> 1, length: i + 1 }
  }
  throw new TypeError('The source map contains invalid mappings')
}

function encodeVlq(value: number): string {
  let rest = value < 0 ? (-value << 1) | 1 : value << 1
  let text = ''
  do {
    const digit = rest & (CONTINUATION_BIT - 1)
    rest >>>= 5
    text += BASE64[rest > 0 ? digit | CONTINUATION_BIT : digit]
  } while (rest > 0)
  return text
}
