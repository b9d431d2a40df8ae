import type { Cause } from '../event.js'
import { appleFrame } from './apple-frame.js'
import { belowMessage, LIBRARY_MARK } from './backtrace.js'
import type { ClientFrame } from './client-frame.js'
import { dartFrame } from './dart-frame.js'
import { isJavaFrame, javaCause, javaFrame } from './java-frame.js'
import { isOwnScript, type OwnScripts } from './own-scripts.js'
import { scriptFrame } from './script-frame.js'

/** A stack of a client in lines of our own, and the errors behind it. */
export interface ClientStack {
  backtrace: string[]
  causes: Cause[]
}

export interface ClientStackOptions extends OwnScripts {
  message?: string
  max_lines: number
}

/** Beyond these nothing is read: a stack may be a megabyte of anything. */
const STACK_LIMIT = 1_000_000
const SCANNED_LINES = 5000
const LINE_LIMIT = 1000
const MOST_CAUSES = 10

/**
 * Reads a `stack` as browsers, React Native, iOS, Android and Flutter write it. Every frame becomes a line that all
 * clients would have written alike, so that one error is one group whichever browser met it. A stack in which no line
 * is known stays as it is.
 *
 * @example
 * clientStack('total@https://shop.example/cart.js:1:2', { max_lines: 50 }).backtrace
 * // ['at total (https://shop.example/cart.js:1:2)']
 */
export function clientStack(stack: string, options: ClientStackOptions): ClientStack {
  const lines = linesOf(belowMessage(stack.slice(0, STACK_LIMIT), options.message ?? ''))
  const parts: Part[] = [{ error_type: '', message: '', relation: 'cause', frames: [] }]
  let is_cut = false
  for (const line of lines) {
    is_cut ||= isAsyncParent(line)
    const frame = is_cut ? null : frameOf(line)
    if (frame) add(parts, frame, options)
    else if (parts.length <= MOST_CAUSES) {
      const behind = javaCause(line)
      if (behind) parts.push({ ...behind, frames: [] })
    }
  }
  const [own, ...behind] = parts as [Part, ...Part[]]
  if (parts.every(({ frames }) => frames.length === 0)) {
    return { backtrace: lines.filter((line) => line !== '').slice(0, options.max_lines), causes: [] }
  }
  return { backtrace: own.frames, causes: nested(behind) }
}

interface Part {
  error_type: string
  message: string
  relation: Cause['relation']
  frames: string[]
}

function add(parts: readonly Part[], frame: ClientFrame, options: ClientStackOptions): void {
  const frames = parts.at(-1)?.frames
  if (frames && frames.length < options.max_lines) frames.push(lineOf(frame, options))
}

function frameOf(line: string): ClientFrame | null {
  if (isJavaFrame(line)) return javaFrame(line)
  return scriptFrame(line) ?? appleFrame(line) ?? dartFrame(line)
}

/** A library's frame that does not look like one says so, see `parseFrame`. */
function lineOf({ name, location, is_library }: ClientFrame, own: OwnScripts): string {
  const line = name === '' ? `at ${location}` : `at ${name} (${location})`
  return is_library || !isOwnScript(location, own) ? `${line}${LIBRARY_MARK}` : line
}

/** Firefox goes on behind a timer or a listener with what had set it up, which no other browser tells. */
function isAsyncParent(line: string): boolean {
  return /^[A-Za-z. ]{1,60}\*/.test(line) && !line.startsWith('async*') && line.includes('@')
}

/** Each is the cause of the one before it; what was suppressed on the way stands beside. */
function nested([first, ...others]: readonly Part[]): Cause[] {
  if (!first) return []
  const { frames: backtrace, ...known } = first
  const next = others.findIndex(({ relation }) => relation === 'cause')
  const inner = nested(next < 0 ? [] : others.slice(next))
  const beside = (next < 0 ? others : others.slice(0, next)).map(({ frames, ...one }) => ({
    ...one,
    backtrace: frames,
  }))
  return [{ ...known, backtrace, ...(inner.length > 0 ? { causes: inner } : {}) }, ...beside]
}

function linesOf(stack: string): string[] {
  const lines: string[] = []
  for (let from = 0; from <= stack.length && lines.length < SCANNED_LINES; ) {
    const newline = stack.indexOf('\n', from)
    const to = newline < 0 ? stack.length : newline
    lines.push(stack.slice(from, Math.min(to, from + LINE_LIMIT)).trim())
    from = to + 1
  }
  return lines
}
