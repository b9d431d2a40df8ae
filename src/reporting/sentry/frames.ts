import { LIBRARY_MARK } from '../../model/stacks/backtrace.js'
import { type Json, recordOf, textIn, valuesOf, wordIn } from './values.js'

export const MOST_FRAMES = 250
const PART_LIMIT = 400

/**
 * A stack trace as lines of a backtrace, the newest call first; SDKs send it last. What the SDK says of whose code a
 * frame is goes with the line, because for most languages its path does not tell.
 */
export function backtraceOf(stacktrace: unknown): string[] {
  return valuesOf(recordOf(stacktrace)?.frames, MOST_FRAMES, 'end').map(lineOf).reverse()
}

/** A frame as a line of a backtrace. */
export function lineOf(frame: Json): string {
  const line = isJava(frame) ? javaLine(frame) : plainLine(frame)
  return frame.in_app === false && !isKnownLibrary(line) ? `${line}${LIBRARY_MARK}` : line
}

/** The frame's own path already tells it. */
function isKnownLibrary(line: string): boolean {
  return /\/node_modules\/|[ (]node:/.test(line)
}

function isJava({ module, filename, abs_path }: Json): boolean {
  return (
    textIn(module) !== undefined &&
    /^[\w$-]+\.(?:java|kt|scala|groovy)$/.test(textIn(filename) ?? textIn(abs_path) ?? '')
  )
}

/** `at com.example.Cart.total(Cart.kt:12)`, as Java writes it. */
function javaLine(frame: Json): string {
  const name = [part(frame.module), nameOf(frame)].filter(Boolean).join('.')
  return `at ${name} (${part(frame.filename ?? frame.abs_path)}${position(frame)})`
}

function plainLine(frame: Json): string {
  const name = nameOf(frame)
  const file = placeOf(frame)
  // Not by its address, which is another with every start: no crash would be like the one before.
  if (!file) return `at ${name ?? '<unknown>'} (unknown)`
  const location = `${file}${position(frame)}`
  return name ? `at ${name} (${location})` : `at ${location}`
}

/** Not the relative name where the whole path is known: two packages may have a file of one name. */
function placeOf({ abs_path, filename, package: library }: Json): string | undefined {
  const path = part(abs_path)
  if (path && path !== '<unknown>') return path
  // The image of an app is known by its path on the device, which differs between installations.
  return part(filename) ?? part(library)?.split('/').at(-1)
}

function position({ lineno, colno }: Json): string {
  if (!isPosition(lineno)) return ''
  return isPosition(colno) ? `:${lineno}:${colno}` : `:${lineno}`
}

function isPosition(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) < 1e9
}

function nameOf(frame: Json): string | undefined {
  const name = part(frame.function)
  return name === '?' ? undefined : name
}

/** One line's worth: a line break in a name would make two frames of one. */
function part(value: unknown): string | undefined {
  const text = wordIn(value)?.slice(0, PART_LIMIT).replace(/\s+/g, ' ').trim()
  return text || undefined
}
