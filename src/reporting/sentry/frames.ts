import { LIBRARY_MARK } from '../../model/stacks/backtrace.js'
import { asList, asRecord, asScalarText, asText, type Json } from './values.js'

export const MAX_FRAMES = 250
const MAX_PART_LENGTH = 400

/**
 * Converts a stack trace to backtrace lines, newest call first; SDKs send the newest last. Keeps the SDK's in-app flag,
 * because in most languages the path does not identify libraries.
 */
export function readBacktrace(stacktrace: unknown): string[] {
  return asList(asRecord(stacktrace)?.frames, MAX_FRAMES, 'end').map(frameLine).reverse()
}

/** Formats a frame as a line of a backtrace. */
export function frameLine(frame: Json): string {
  const line = isJava(frame) ? javaLine(frame) : plainLine(frame)
  return frame.in_app === false && !isKnownLibrary(line) ? `${line}${LIBRARY_MARK}` : line
}

/** Checks whether the path of the frame already identifies it as a library. */
function isKnownLibrary(line: string): boolean {
  return /\/node_modules\/|[ (]node:/.test(line)
}

function isJava({ module, filename, abs_path }: Json): boolean {
  return (
    asText(module) !== undefined &&
    /^[\w$-]+\.(?:java|kt|scala|groovy)$/.test(asText(filename) ?? asText(abs_path) ?? '')
  )
}

/** `at com.example.Cart.total(Cart.kt:12)`, the format of Java. */
function javaLine(frame: Json): string {
  const name = [cleanPart(frame.module), functionName(frame)].filter(Boolean).join('.')
  return `at ${name} (${cleanPart(frame.filename ?? frame.abs_path)}${positionSuffix(frame)})`
}

function plainLine(frame: Json): string {
  const name = functionName(frame)
  const file = frameFile(frame)
  // Omits the address, which differs on every start and would create a group per crash.
  if (!file) return `at ${name ?? '<unknown>'} (unknown)`
  const location = `${file}${positionSuffix(frame)}`
  return name ? `at ${name} (${location})` : `at ${location}`
}

/** Prefers the absolute path, because two packages can have files with the same name. */
function frameFile({ abs_path, filename, package: library }: Json): string | undefined {
  const path = cleanPart(abs_path)
  if (path && path !== '<unknown>') return path
  // The path of an app's image on the device differs between installations.
  return cleanPart(filename) ?? cleanPart(library)?.split('/').at(-1)
}

function positionSuffix({ lineno, colno }: Json): string {
  if (!isPosition(lineno)) return ''
  return isPosition(colno) ? `:${lineno}:${colno}` : `:${lineno}`
}

function isPosition(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) < 1e9
}

function functionName(frame: Json): string | undefined {
  const name = cleanPart(frame.function)
  return name === '?' ? undefined : name
}

/** Removes line breaks, because a line break in a name would create two frames. */
function cleanPart(value: unknown): string | undefined {
  const text = asScalarText(value)?.slice(0, MAX_PART_LENGTH).replace(/\s+/g, ' ').trim()
  return text || undefined
}
