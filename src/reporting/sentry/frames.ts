import { LIBRARY_MARK } from '../../model/stacks/backtrace.js'
import { type Json, recordOf, textIn, valuesOf, wordIn } from './values.js'

export const MOST_FRAMES = 250
const PART_LIMIT = 400

/**
 * Converts a stack trace to backtrace lines, newest call first; SDKs send it last. Keeps the SDK's own-code flag,
 * because for most languages the path does not show it.
 */
export function backtraceOf(stacktrace: unknown): string[] {
  return valuesOf(recordOf(stacktrace)?.frames, MOST_FRAMES, 'end').map(lineOf).reverse()
}

/** Formats a frame as a line of a backtrace. */
export function lineOf(frame: Json): string {
  const line = isJava(frame) ? javaLine(frame) : plainLine(frame)
  return frame.in_app === false && !isKnownLibrary(line) ? `${line}${LIBRARY_MARK}` : line
}

/** Whether the path of the frame already shows that it is a library. */
function isKnownLibrary(line: string): boolean {
  return /\/node_modules\/|[ (]node:/.test(line)
}

function isJava({ module, filename, abs_path }: Json): boolean {
  return (
    textIn(module) !== undefined &&
    /^[\w$-]+\.(?:java|kt|scala|groovy)$/.test(textIn(filename) ?? textIn(abs_path) ?? '')
  )
}

/** `at com.example.Cart.total(Cart.kt:12)`, the format of Java. */
function javaLine(frame: Json): string {
  const name = [part(frame.module), nameOf(frame)].filter(Boolean).join('.')
  return `at ${name} (${part(frame.filename ?? frame.abs_path)}${position(frame)})`
}

function plainLine(frame: Json): string {
  const name = nameOf(frame)
  const file = placeOf(frame)
  // Omits the address, which differs with every start: no two crashes would be equal.
  if (!file) return `at ${name ?? '<unknown>'} (unknown)`
  const location = `${file}${position(frame)}`
  return name ? `at ${name} (${location})` : `at ${location}`
}

/** Prefers the absolute path: two packages can have files with the same name. */
function placeOf({ abs_path, filename, package: library }: Json): string | undefined {
  const path = part(abs_path)
  if (path && path !== '<unknown>') return path
  // The image of an app has a path on the device, which differs between installations.
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

/** Removes line breaks: one in a name would create two frames. */
function part(value: unknown): string | undefined {
  const text = wordIn(value)?.slice(0, PART_LIMIT).replace(/\s+/g, ' ').trim()
  return text || undefined
}
