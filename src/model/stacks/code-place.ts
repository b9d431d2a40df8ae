import type { Cause } from '../event.js'
import { cleanText } from '../text.js'
import { culpritFrame, type Frame, locationText, parseFrame } from './backtrace.js'

/** Number of own-code frames that identify a location. */
const PLACE_FRAME_COUNT = 3
const MAX_SCANNED_FRAMES = 50
/** Number of functions that identify a long recursion. */
const MAX_RECURSION_FUNCTIONS = 10

/**
 * Digest of the source line of a frame. For a caller, digest of the call that received its function. Null if the
 * source cannot be read.
 */
export type LineDigest = (frame: Frame, isCaller: boolean) => string | null

/**
 * File and function of the first own-code frames, without line or column. Neither an edit elsewhere nor a deployment
 * to another folder creates a new group. A frame without a function name adds a digest of its source line. Recursion
 * counts once.
 * @example codePlace(['at total (/app/src/cart.ts:12:5)', 'at /app/src/server.ts:9:3'], '/app', digest) //
 * ['src/cart.ts#total', 'src/server.ts#~3f9a1c20d5e6']
 */
export function codePlace(backtrace: readonly string[], root: string, lineDigest?: LineDigest): string[] {
  const ownPlaces: string[] = []
  let firstPlace: string | undefined
  for (const line of backtrace.slice(0, MAX_SCANNED_FRAMES)) {
    const frame = parseFrame(line, root)
    firstPlace ??= namedPlace(frame)
    if (!frame.in_app) continue
    const place = framePlace(frame, ownPlaces.length === 0, lineDigest)
    if (!ownPlaces.includes(place)) ownPlaces.push(place)
    if (ownPlaces.length === PLACE_FRAME_COUNT) break
  }
  return ownPlaces.length > 0 ? ownPlaces : firstPlace ? [firstPlace] : []
}

/**
 * Location of a stack overflow: all functions of the recursion in alphabetical order, because the frame where the
 * stack ended is random.
 */
export function recursionPlace(backtrace: readonly string[], root: string, lineDigest?: LineDigest): string[] {
  const places = backtrace
    .slice(0, MAX_SCANNED_FRAMES)
    .map((line) => parseFrame(line, root))
    .filter(({ in_app }) => in_app)
    .map((frame) => framePlace(frame, false, lineDigest))
  const from = places.findIndex((place, i) => places.includes(place, i + 1))
  const to = places.findLastIndex((place, i) => places.indexOf(place) < i)
  if (from < 0) return codePlace(backtrace, root, lineDigest)
  return [...new Set(places.slice(from, to + 1))].sort().slice(0, MAX_RECURSION_FUNCTIONS)
}

/** The parts of an error that determine its location. */
export interface LocatedError {
  backtrace: readonly string[]
  causes: readonly Cause[]
}

/** Backtrace of the innermost cause that contains own code, or else of the error itself. */
export function rootBacktrace({ backtrace, causes }: LocatedError, root: string): readonly string[] {
  let result = backtrace
  for (let innerCauses = causes; ; ) {
    // Promise.any collects several errors without a location of its own. The first error determines the location.
    const cause =
      innerCauses.find(({ relation }) => relation === 'cause') ?? (result.length === 0 ? innerCauses[0] : undefined)
    if (!cause) return result
    if (result.length === 0 || culpritFrame(cause.backtrace, root)?.in_app) result = cause.backtrace
    innerCauses = cause.causes ?? []
  }
}

const MAX_LOCATION_LENGTH = 500

/** Location for lists and pages, such as `src/cart.ts:12 in total`; null without frames. */
export function displayLocation(backtrace: readonly string[], root: string): string | null {
  const frame = culpritFrame(backtrace, root)
  return frame ? shortPlace(locationText(frame), MAX_LOCATION_LENGTH) : null
}

/** Shortens the path of a location at its beginning, because its end names the file and the line. */
export function shortPlace(place: string, limit: number): string {
  if (place.length <= limit) return cleanText(place, limit)
  const nameStart = place.indexOf(' in ')
  const path = nameStart < 0 ? place : place.slice(0, nameStart)
  const name =
    nameStart < 0 ? '' : cleanText(place.slice(nameStart), Math.max(Math.floor(limit / 2), limit - path.length))
  const kept = limit - name.length
  return cleanText(path.length > kept ? `…${path.slice(1 - kept)}${name}` : `${path}${name}`, limit)
}

const OVERFLOW_TYPE = /^(?:Range|Internal)Error$/
const OVERFLOW_MESSAGE = /^(?:Maximum call stack size exceeded|too much recursion)/

export function isStackOverflow({ error_type, message }: { error_type: string; message: string }): boolean {
  return OVERFLOW_TYPE.test(error_type) && OVERFLOW_MESSAGE.test(message)
}

const LINE_NUMBER_PLACE = /#[^#\n]*:\d+$/

/** Returns true if the first frame has neither a name nor a readable source line. */
export function isPlaceByLineNumber([first]: readonly string[]): boolean {
  return first !== undefined && LINE_NUMBER_PLACE.test(first)
}

/** Replaces the line number of the first frame with the route of the request, because any edit moves the line. */
export function placeWithRoute([first = '', ...callers]: readonly string[], route: string): string[] {
  return [`${first.replace(/:\d+$/, '')}@${route}`, ...callers]
}

/** Callers fall back to their file alone: the line number of the first frame is enough to distinguish locations. */
function framePlace(frame: Frame, isFirst: boolean, lineDigest: LineDigest | undefined): string {
  const place = namedPlace(frame)
  if (frame.file === null || frame.line_number === null || !isAnonymous(frame.function_name)) return place
  const digest = lineDigest?.(frame, !isFirst) ?? null
  if (digest !== null) return `${place}~${digest}`
  return isFirst ? `${place}:${frame.line_number}` : place
}

/** V8 prints `Timeout._onTimeout` for every callback of `setTimeout` and `setInterval` without a name. */
function isAnonymous(name: string | null): boolean {
  return !name || name.endsWith('<anonymous>') || name === 'Timeout._onTimeout'
}

function namedPlace({ file, function_name }: Frame): string {
  // A line of unknown format is kept whole as the name, with its line numbers replaced.
  if (file === null) return `#${(function_name ?? '').replace(/\d+/g, '0')}`
  return `${stableFile(file)}#${stableName(function_name)}`
}

/** Bundlers add a content hash to file names for browsers, and servers add a query string. */
function stableFile(file: string): string {
  if (!/^https?:\/\//.test(file)) return file
  return file
    .replace(/^https?:\/\/[^/]*/, '')
    .replace(/[?#].*$/, '')
    .replace(/[.-](?=[a-zA-Z_-]{0,40}[\dA-Z])[\w-]{8,40}(?=\.\w{1,5}$)/, '')
}

/** Removes prefixes and aliases, which differ between V8 versions for the same function. */
function stableName(name: string | null): string {
  if (!name) return ''
  return name.replace(/^(?:async |new |Object\.|Module\.|exports\.)+/, '').replace(/ \[as [^\]]*\]$/, '')
}
