import type { Cause } from '../event.js'
import { parseAppleFrame } from './apple-frame.js'
import { LIBRARY_MARK, skipMessage } from './backtrace.js'
import type { ClientFrame } from './client-frame.js'
import { parseDartFrame } from './dart-frame.js'
import { isJavaFrame, parseJavaCause, parseJavaFrame } from './java-frame.js'
import { isOwnScript, type OwnScripts } from './own-scripts.js'
import { parseScriptFrame } from './script-frame.js'

/** A client stack in normalized lines, with its causes. */
export interface ClientStack {
  backtrace: string[]
  causes: Cause[]
}

export interface ClientStackOptions extends OwnScripts {
  message?: string
  maxLines: number
}

/** Upper limits for reading, because a stack can be a megabyte of arbitrary text. */
const MAX_STACK_LENGTH = 1_000_000
const MAX_SCANNED_LINES = 5000
const MAX_LINE_LENGTH = 1000
const MAX_CAUSES = 10

/**
 * Parses a `stack` of a browser, React Native, iOS, Android or Flutter. Frames are normalized so that one error is one
 * group in every browser. A stack without any known line stays unchanged.
 * @example clientStack('total@https://shop.example/cart.js:1:2', { maxLines: 50 }).backtrace // ['at total
 * (https://shop.example/cart.js:1:2)']
 */
export function clientStack(stack: string, options: ClientStackOptions): ClientStack {
  const lines = splitLines(skipMessage(stack.slice(0, MAX_STACK_LENGTH), options.message ?? ''))
  const parts: StackPart[] = [{ error_type: '', message: '', relation: 'cause', frames: [] }]
  let isAsyncPart = false
  for (const line of lines) {
    isAsyncPart ||= isAsyncParent(line)
    const frame = isAsyncPart ? null : parseFrameLine(line)
    if (frame) addFrame(parts, frame, options)
    else if (parts.length <= MAX_CAUSES) {
      const cause = parseJavaCause(line)
      if (cause) parts.push({ ...cause, frames: [] })
    }
  }
  const [thrown, ...causeParts] = parts as [StackPart, ...StackPart[]]
  if (parts.every(({ frames }) => frames.length === 0)) {
    return { backtrace: lines.filter((line) => line !== '').slice(0, options.maxLines), causes: [] }
  }
  return { backtrace: thrown.frames, causes: nestCauses(causeParts) }
}

interface StackPart {
  error_type: string
  message: string
  relation: Cause['relation']
  frames: string[]
}

function addFrame(parts: readonly StackPart[], frame: ClientFrame, options: ClientStackOptions): void {
  const frames = parts.at(-1)?.frames
  if (frames && frames.length < options.maxLines) frames.push(frameLine(frame, options))
}

function parseFrameLine(line: string): ClientFrame | null {
  if (isJavaFrame(line)) return parseJavaFrame(line)
  return parseScriptFrame(line) ?? parseAppleFrame(line) ?? parseDartFrame(line)
}

/** Marks a library frame whose path looks like application code, see `parseFrame`. */
function frameLine({ name, location, isLibrary }: ClientFrame, ownScripts: OwnScripts): string {
  const line = name === '' ? `at ${location}` : `at ${name} (${location})`
  return isLibrary || !isOwnScript(location, ownScripts) ? `${line}${LIBRARY_MARK}` : line
}

/** Firefox appends the stack that set up a timer or listener, which no other browser does. */
function isAsyncParent(line: string): boolean {
  return /^[A-Za-z. ]{1,60}\*/.test(line) && !line.startsWith('async*') && line.includes('@')
}

/** Each error is the cause of the error before it. Suppressed errors are added next to it. */
function nestCauses([first, ...others]: readonly StackPart[]): Cause[] {
  if (!first) return []
  const { frames: backtrace, ...error } = first
  const next = others.findIndex(({ relation }) => relation === 'cause')
  const inner = nestCauses(next < 0 ? [] : others.slice(next))
  const suppressedCauses = (next < 0 ? others : others.slice(0, next)).map(({ frames, ...suppressed }) => ({
    ...suppressed,
    backtrace: frames,
  }))
  return [{ ...error, backtrace, ...(inner.length > 0 ? { causes: inner } : {}) }, ...suppressedCauses]
}

function splitLines(stack: string): string[] {
  const lines: string[] = []
  for (let from = 0; from <= stack.length && lines.length < MAX_SCANNED_LINES; ) {
    const newline = stack.indexOf('\n', from)
    const to = newline < 0 ? stack.length : newline
    lines.push(stack.slice(from, Math.min(to, from + MAX_LINE_LENGTH)).trim())
    from = to + 1
  }
  return lines
}
