export interface Frame {
  /** The recorded line, unchanged. */
  line: string
  function_name: string | null
  /** Relative to the project root if the file is inside the root. */
  file: string | null
  line_number: number | null
  column: number | null
  /** True if the frame belongs to the host's own code, not to a library or to Node.js. */
  in_app: boolean
}

const MAX_LINE_LENGTH = 1000

/**
 * Returns the part of a `stack` string below the message. Skips the message by its length because it can contain lines
 * that look like frames.
 */
export function skipMessage(stack: string, message: string): string {
  if (message === '') return stack
  const start = stack.slice(0, MAX_HEADER_LENGTH + message.length).indexOf(message)
  return start < 0 ? stack : stack.slice(start + message.length)
}

/** Latest offset at which the message can begin: after the name of the error type. */
const MAX_HEADER_LENGTH = 300

/** Longer than a stack with the maximum number of frames. Bounds the search in text without frames. */
const MAX_SCANNED_CHARACTERS = 200_000

/** Returns the frame lines of a stack string. */
export function stackLines(stack: string, message: string, limit: number): string[] {
  const body = skipMessage(stack, message).slice(0, MAX_SCANNED_CHARACTERS)
  const lines: string[] = []
  for (let from = 0; from < body.length && lines.length < limit; ) {
    const newline = body.indexOf('\n', from)
    const to = newline < 0 ? body.length : newline
    const line = body.slice(from, Math.min(to, from + MAX_LINE_LENGTH)).trim()
    if (line.startsWith('at ')) lines.push(line)
    from = to + 1
  }
  return lines
}

/** Marks a line of a client stack as library code when neither its name nor its path shows it. */
export const LIBRARY_MARK = ' [library]'

/** Parses one line of a backtrace. A line of unknown format is kept whole as the function name. */
export function parseFrame(line: string, root: string): Frame {
  const trimmed = (line.length > MAX_LINE_LENGTH ? line.slice(0, MAX_LINE_LENGTH) : line).trim()
  if (!trimmed.endsWith(LIBRARY_MARK)) return parseUnmarkedFrame(line, trimmed, root)
  return { ...parseUnmarkedFrame(line, trimmed.slice(0, -LIBRARY_MARK.length), root), in_app: false }
}

function parseUnmarkedFrame(line: string, text: string, root: string): Frame {
  const parts = text.startsWith('at ') ? splitV8Line(text.slice(3)) : splitGeckoLine(text)
  if (!parts) return { line, function_name: text, file: null, line_number: null, column: null, in_app: true }
  const { path, line_number, column } = parsePosition(parts.location)
  const file = relativeFile(path, root)
  return { line, function_name: parts.name || null, file: file.path || null, line_number, column, in_app: file.in_app }
}

/** Makes paths inside the project relative to its root, so that lines are equal in every deployment. */
export function relativeLines(lines: readonly string[], root: string): readonly string[] {
  const folder = root.endsWith('/') ? root : `${root}/`
  if (folder === '/' || !lines.some((line) => line.includes(folder))) return lines
  return Object.freeze(lines.map((line) => line.replace(`file://${folder}`, '').replace(folder, '')))
}

/** Returns the newest frame in the host's own code, or the newest frame if there is none. */
export function culpritFrame(backtrace: readonly string[], root: string): Frame | null {
  let newest: Frame | null = null
  for (const line of backtrace.slice(0, 50)) {
    const frame = parseFrame(line, root)
    if (frame.in_app) return frame
    newest ??= frame
  }
  return newest
}

/** `src/cart.ts:12 in total`, for lists and messages. */
export function locationText(frame: Frame): string {
  const position = frame.file ? `${frame.file}${frame.line_number === null ? '' : `:${frame.line_number}`}` : ''
  if (!position) return frame.function_name ?? ''
  return frame.function_name ? `${position} in ${frame.function_name}` : position
}

interface LineParts {
  name: string
  location: string
}

/** `total (/app/cart.ts:1:2)`, `/app/cart.ts:1:2`, and Java's `Cart.total(Cart.java:1)`. */
function splitV8Line(text: string): LineParts {
  const withoutAsync = text.startsWith('async ') ? text.slice(6) : text
  const open = withoutAsync.endsWith(')') ? openingParenthesis(withoutAsync) : -1
  if (open < 0) return { name: '', location: withoutAsync }
  return { name: withoutAsync.slice(0, open).trim(), location: evalOrigin(withoutAsync.slice(open + 1, -1)) }
}

/**
 * Finds the parenthesis that matches the last closing parenthesis: paths (`/app/(shop)/page.js`) and names
 * (`[Symbol(x)]`) also contain parentheses.
 */
function openingParenthesis(text: string): number {
  let depth = 0
  for (let i = text.length - 1; i >= 0; i--) {
    if (text[i] === ')') depth++
    else if (text[i] === '(' && --depth === 0) return i
  }
  return text.indexOf(' (') + 1 || -1
}

/**
 * Location of evaluated code, which has no file: `eval at load (/app/x.js:1:2), <anonymous>:3:4` maps to the caller of
 * eval.
 */
export function evalOrigin(location: string): string {
  const start = location.lastIndexOf('eval at ')
  if (start < 0) return location
  const open = location.indexOf(' (', start)
  const close = location.indexOf(')', open)
  return open < 0 || close < 0 ? '<anonymous>' : location.slice(open + 2, close)
}

/** `total@https://shop.example/cart.js:1:2`, the format of Firefox and Safari. */
function splitGeckoLine(text: string): LineParts | null {
  const at = text.lastIndexOf('@')
  const location = text.slice(at + 1)
  if (at < 0 || !/:\d+$/.test(location) || /\s/.test(location)) return null
  return { name: text.slice(0, at), location }
}

function parsePosition(location: string): { path: string; line_number: number | null; column: number | null } {
  const match = /:(\d{1,9})(?::(\d{1,9}))?$/.exec(location)
  if (!match) return { path: location, line_number: null, column: null }
  return {
    path: location.slice(0, match.index),
    line_number: Number(match[1]),
    column: match[2] === undefined ? null : Number(match[2]),
  }
}

function relativeFile(location: string, root: string): { path: string; in_app: boolean } {
  // `index 0` is the position of a promise in Promise.all.
  if (/^(?:node:.*|native|<anonymous>|unknown location|index \d+|)$/.test(location)) {
    return { path: location, in_app: false }
  }
  const path = forwardSlashes(location.startsWith('file://') ? urlPath(location) : location)
  const library = `/${path}`.lastIndexOf('/node_modules/')
  if (library >= 0) return { path: path.slice(library), in_app: false }
  const folder = forwardSlashes(root)
  const prefix = folder.endsWith('/') ? folder : `${folder}/`
  // Paths outside the root belong to another machine (a browser, a phone) and count as its own code.
  return { path: path.startsWith(prefix) ? path.slice(prefix.length) : path, in_app: true }
}

function forwardSlashes(path: string): string {
  return /^(?:[A-Za-z]:)?\\/.test(path) ? path.replaceAll('\\', '/') : path
}

/** Replaces `fileURLToPath`, which accepts only paths of this platform. The stack can be from another machine. */
function urlPath(url: string): string {
  const path = url.slice('file://'.length).replace(/^\/(?=[A-Za-z]:\/)/, '')
  try {
    return decodeURIComponent(path)
  } catch {
    // A stray % is not an encoding: return the text unchanged.
    return path
  }
}
