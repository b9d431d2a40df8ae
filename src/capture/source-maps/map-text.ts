import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { OpenFile, ProjectFiles } from './project-files.js'
import type { SkipReason } from './skip-reason.js'
import { withoutContents } from './without-contents.js'

/** Text of a map and the base folder of its relative paths. */
export interface MapText {
  /** Without the contents of the sources. */
  text: string
  /** Size including the contents. */
  bytes: number
  folder: string
  /** Text including the contents. */
  whole(): string
}

/**
 * The map referenced by the last comment of a generated file; null if there is none, or the reason why it cannot be
 * used.
 */
export function mapTextOf(files: ProjectFiles, path: string, max_bytes: number): MapText | SkipReason | null {
  return files.read(path, (file) => mapTextIn(files, file, max_bytes))
}

/** Variant for code that is already in memory. */
export function mapTextIn(files: ProjectFiles, file: OpenFile, max_bytes: number): MapText | SkipReason | null {
  const url = mapUrl(file, max_bytes)
  if (url === null) return null
  const folder = dirname(file.path)
  if (/^data:/i.test(url)) return inlineMap(url, folder, max_bytes)
  const map = mapPath(url, folder)
  return map === null ? 'map_remote' : mapFile(files, map, max_bytes)
}

const COMMENT = '//# sourceMappingURL='
/** Room for a file name, and for comments that other tools append. */
const TAIL_BYTES = 4096
/** Code with an inline map in Base64 is about twice as long as the map. */
const FILE_TO_MAP = 2

function mapUrl(file: OpenFile, max_bytes: number): string | null {
  const near = lastComment(file.tail(TAIL_BYTES))
  if (near !== null || file.size <= TAIL_BYTES || file.size > max_bytes * FILE_TO_MAP) return near
  return lastComment(file.tail(file.size))
}

/** Only comments may follow: earlier in the file, the same words can be a string in the code of a bundler. */
function lastComment(content: Buffer): string | null {
  const start = content.lastIndexOf(COMMENT)
  if (start < 0) return null
  const text = content.toString('utf8', start + COMMENT.length)
  const newline = text.search(/[\r\n]/)
  const url = (newline < 0 ? text : text.slice(0, newline)).trim()
  const rest = newline < 0 ? '' : text.slice(newline)
  return url !== '' && !/[\s'"`]/.test(url) && /^(?:\s|\/\/[^\r\n]*)*$/.test(rest) ? url : null
}

function inlineMap(url: string, folder: string, max_bytes: number): MapText | SkipReason {
  const comma = url.indexOf(',')
  if (comma < 0) return 'map_broken'
  const is_base64 = /;base64$/i.test(url.slice(0, comma))
  if ((url.length - comma) * (is_base64 ? 0.75 : 1) > max_bytes * (is_base64 ? 1 : 3)) return 'map_too_large'
  const data = url.slice(comma + 1)
  const map = is_base64 ? Buffer.from(data, 'base64') : Buffer.from(decodeURIComponent(data))
  return map.length > max_bytes ? 'map_too_large' : mapText(map, folder)
}

/** Null for any URL that is not a file: nothing is fetched. */
function mapPath(url: string, folder: string): string | null {
  if (/^file:/i.test(url)) return fileURLToPath(url)
  // A single letter before the colon is a Windows drive.
  if (/^(?:[a-z][a-z0-9+.-]+:|\/\/)/i.test(url)) return null
  return resolve(folder, decodeURIComponent(url.replace(/[?#].*$/, '')))
}

function mapFile(files: ProjectFiles, path: string, max_bytes: number): MapText | SkipReason {
  if (!files.holds(path)) return 'map_outside_project'
  const found = files.read(path, (map): MapText | SkipReason =>
    map.size > max_bytes ? 'map_too_large' : mapText(map.tail(map.size), dirname(map.path)),
  )
  return found ?? 'map_missing'
}

function mapText(map: Buffer, folder: string): MapText {
  return { text: withoutContents(map).toString('utf8'), bytes: map.length, folder, whole: () => map.toString('utf8') }
}
