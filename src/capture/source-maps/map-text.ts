import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { OpenFile, ProjectFiles } from './project-files.js'
import { withoutContents } from './without-contents.js'

/** Text of a map and the base folder of its relative paths. */
export interface MapText {
  /** Text of the map without the contents of the sources. */
  text: string
  /** Size including the contents. */
  bytes: number
  folder: string
  /** Returns the text of the map with the contents of the sources. */
  withContents(): string
}

/**
 * Reads the map referenced by the last comment of a generated file. Returns null without a reference, or the reason why
 * the map cannot be used.
 */
export function readMapText(files: ProjectFiles, path: string, maxBytes: number): MapText | SkipReason | null {
  return files.read(path, (file) => findMapText(files, file, maxBytes))
}

/** Same as `readMapText`, for an open file. */
export function findMapText(files: ProjectFiles, file: OpenFile, maxBytes: number): MapText | SkipReason | null {
  const url = mapUrl(file, maxBytes)
  if (url === null) return null
  const folder = dirname(file.path)
  if (/^data:/i.test(url)) return inlineMap(url, folder, maxBytes)
  const map = mapPath(url, folder)
  return map === null ? 'map_remote' : mapFile(files, map, maxBytes)
}

const MAP_COMMENT = '//# sourceMappingURL='
/** Leaves room for a file name, and for comments that other tools append. */
const TAIL_BYTES = 4096
/** Code with an inline map in Base64 is about twice as long as the map. */
const MAX_FILE_TO_MAP_RATIO = 2

function mapUrl(file: OpenFile, maxBytes: number): string | null {
  const tailUrl = lastComment(file.tail(TAIL_BYTES))
  if (tailUrl !== null || file.size <= TAIL_BYTES || file.size > maxBytes * MAX_FILE_TO_MAP_RATIO) return tailUrl
  return lastComment(file.tail(file.size))
}

/** Finds the comment if only comments follow it. Earlier in the file, the same text can be a string in bundler code. */
function lastComment(content: Buffer): string | null {
  const start = content.lastIndexOf(MAP_COMMENT)
  if (start < 0) return null
  const text = content.toString('utf8', start + MAP_COMMENT.length)
  const newline = text.search(/[\r\n]/)
  const url = (newline < 0 ? text : text.slice(0, newline)).trim()
  const rest = newline < 0 ? '' : text.slice(newline)
  return url !== '' && !/[\s'"`]/.test(url) && /^(?:\s|\/\/[^\r\n]*)*$/.test(rest) ? url : null
}

function inlineMap(url: string, folder: string, maxBytes: number): MapText | SkipReason {
  const comma = url.indexOf(',')
  if (comma < 0) return 'map_broken'
  const isBase64 = /;base64$/i.test(url.slice(0, comma))
  if ((url.length - comma) * (isBase64 ? 0.75 : 1) > maxBytes * (isBase64 ? 1 : 3)) return 'map_too_large'
  const data = url.slice(comma + 1)
  const map = isBase64 ? Buffer.from(data, 'base64') : Buffer.from(decodeURIComponent(data))
  return map.length > maxBytes ? 'map_too_large' : mapText(map, folder)
}

/** Path of the map. Null for any other URL, because nothing is fetched. */
function mapPath(url: string, folder: string): string | null {
  if (/^file:/i.test(url)) return fileURLToPath(url)
  // A single letter before the colon is a Windows drive.
  if (/^(?:[a-z][a-z0-9+.-]+:|\/\/)/i.test(url)) return null
  return resolve(folder, decodeURIComponent(url.replace(/[?#].*$/, '')))
}

function mapFile(files: ProjectFiles, path: string, maxBytes: number): MapText | SkipReason {
  if (!files.contains(path)) return 'map_outside_project'
  const found = files.read(path, (map): MapText | SkipReason =>
    map.size > maxBytes ? 'map_too_large' : mapText(map.tail(map.size), dirname(map.path)),
  )
  return found ?? 'map_missing'
}

function mapText(map: Buffer, folder: string): MapText {
  return {
    text: withoutContents(map).toString('utf8'),
    bytes: map.length,
    folder,
    withContents: () => map.toString('utf8'),
  }
}

/** Reason why the frames of a generated file with a map stayed unchanged. */
export type SkipReason =
  | 'map_remote'
  | 'map_outside_project'
  | 'map_missing'
  | 'map_too_large'
  | 'map_broken'
  | 'stack_too_large'

export type OnSkipped = (reason: SkipReason, file: string) => void
