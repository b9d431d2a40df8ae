export interface Frame {
  /** The line as it was recorded. */
  line: string
  function_name: string | null
  /** Relative to the project's root where it lies inside it. */
  file: string | null
  line_number: number | null
  column: number | null
  /** Whether the frame is the host's own code rather than a library's or Node's. */
  in_app: boolean
}

const LINE_LIMIT = 1000

/**
 * The part of a `stack` string below the message. The message may itself hold lines that look like frames, so it is
 * skipped by its own length where V8 wrote it.
 */
export function belowMessage(stack: string, message: string): string {
  if (message === '') return stack
  const start = stack.slice(0, HEADER_LIMIT + message.length).indexOf(message)
  return start < 0 ? stack : stack.slice(start + message.length)
}

/** How far into a stack the message may begin: behind the name of the type. */
const HEADER_LIMIT = 300

/** A stack of the most frames that can be kept is shorter. A text without frames is not searched to its end. */
const MAX_SCANNED_CHARACTERS = 200_000

/** The frame lines of a stack string. */
export function stackLines(stack: string, message: string, limit: number): string[] {
  const body = belowMessage(stack, message).slice(0, MAX_SCANNED_CHARACTERS)
  const lines: string[] = []
  for (let from = 0; from < body.length && lines.length < limit; ) {
    const newline = body.indexOf('\n', from)
    const to = newline < 0 ? body.length : newline
    const line = body.slice(from, Math.min(to, from + LINE_LIMIT)).trim()
    if (line.startsWith('at ')) lines.push(line)
    from = to + 1
  }
  return lines
}

/** Ends a line of a client's stack that is not the host's own code, where neither name nor path would tell. */
export const LIBRARY_MARK = ' [library]'

/** One line of a backtrace in its parts; a line in a shape we do not know is kept whole as the function's name. */
export function parseFrame(line: string, root: string): Frame {
  const cut = (line.length > LINE_LIMIT ? line.slice(0, LINE_LIMIT) : line).trim()
  if (!cut.endsWith(LIBRARY_MARK)) return unmarkedFrame(line, cut, root)
  return { ...unmarkedFrame(line, cut.slice(0, -LIBRARY_MARK.length), root), in_app: false }
}

function unmarkedFrame(line: string, short: string, root: string): Frame {
  const parts = short.startsWith('at ') ? v8Parts(short.slice(3)) : geckoParts(short)
  if (!parts) return { line, function_name: short, file: null, line_number: null, column: null, in_app: true }
  const { path, line_number, column } = positionOf(parts.location)
  const file = relativeFile(path, root)
  return { line, function_name: parts.name || null, file: file.path || null, line_number, column, in_app: file.in_app }
}

/** The lines with paths inside the project relative to its root, so that every deployment tells them alike. */
export function relativeLines(lines: readonly string[], root: string): readonly string[] {
  const folder = root.endsWith('/') ? root : `${root}/`
  if (folder === '/' || !lines.some((line) => line.includes(folder))) return lines
  return Object.freeze(lines.map((line) => line.replace(`file://${folder}`, '').replace(folder, '')))
}

/** The frame a person looks at first: the newest one in the host's own code, else the newest at all. */
export function culprit(backtrace: readonly string[], root: string): Frame | null {
  let newest: Frame | null = null
  for (const line of backtrace.slice(0, 50)) {
    const frame = parseFrame(line, root)
    if (frame.in_app) return frame
    newest ??= frame
  }
  return newest
}

/** `src/cart.ts:12 in total`, for lists and messages. */
export function placeText(frame: Frame): string {
  const where = frame.file ? `${frame.file}${frame.line_number === null ? '' : `:${frame.line_number}`}` : ''
  if (!where) return frame.function_name ?? ''
  return frame.function_name ? `${where} in ${frame.function_name}` : where
}

interface Parts {
  name: string
  location: string
}

/** `total (/app/cart.ts:1:2)`, `/app/cart.ts:1:2`, and Java's `Cart.total(Cart.java:1)`. */
function v8Parts(text: string): Parts {
  const plain = text.startsWith('async ') ? text.slice(6) : text
  const open = plain.endsWith(')') ? openingParenthesis(plain) : -1
  if (open < 0) return { name: '', location: plain }
  return { name: plain.slice(0, open).trim(), location: evalOrigin(plain.slice(open + 1, -1)) }
}

/** The one that the last closes: paths (`/app/(shop)/page.js`) and names (`[Symbol(x)]`) hold parentheses too. */
function openingParenthesis(text: string): number {
  let depth = 0
  for (let i = text.length - 1; i >= 0; i--) {
    if (text[i] === ')') depth++
    else if (text[i] === '(' && --depth === 0) return i
  }
  return text.indexOf(' (') + 1 || -1
}

/** Evaluated code has no file of its own: `eval at load (/app/x.js:1:2), <anonymous>:3:4` is where it was evaluated. */
export function evalOrigin(location: string): string {
  const start = location.lastIndexOf('eval at ')
  if (start < 0) return location
  const open = location.indexOf(' (', start)
  const close = location.indexOf(')', open)
  return open < 0 || close < 0 ? '<anonymous>' : location.slice(open + 2, close)
}

/** `total@https://shop.example/cart.js:1:2`, as Firefox and Safari write it. */
function geckoParts(text: string): Parts | null {
  const at = text.lastIndexOf('@')
  const location = text.slice(at + 1)
  if (at < 0 || !/:\d+$/.test(location) || /\s/.test(location)) return null
  return { name: text.slice(0, at), location }
}

function positionOf(location: string): { path: string; line_number: number | null; column: number | null } {
  const match = /:(\d{1,9})(?::(\d{1,9}))?$/.exec(location)
  if (!match) return { path: location, line_number: null, column: null }
  return {
    path: location.slice(0, match.index),
    line_number: Number(match[1]),
    column: match[2] === undefined ? null : Number(match[2]),
  }
}

function relativeFile(location: string, root: string): { path: string; in_app: boolean } {
  // `index 0` is the place of a promise in Promise.all.
  if (/^(?:node:.*|native|<anonymous>|unknown location|index \d+|)$/.test(location)) {
    return { path: location, in_app: false }
  }
  const path = forwardSlashes(location.startsWith('file://') ? pathOfUrl(location) : location)
  const library = `/${path}`.lastIndexOf('/node_modules/')
  if (library >= 0) return { path: path.slice(library), in_app: false }
  const folder = forwardSlashes(root)
  const prefix = folder.endsWith('/') ? folder : `${folder}/`
  // What is not below the root is a stack of another machine (a browser, a phone): its paths are that one's own code.
  return { path: path.startsWith(prefix) ? path.slice(prefix.length) : path, in_app: true }
}

function forwardSlashes(path: string): string {
  return /^(?:[A-Za-z]:)?\\/.test(path) ? path.replaceAll('\\', '/') : path
}

/** Not `fileURLToPath`, which knows the paths of this machine only: the stack may come from another. */
function pathOfUrl(url: string): string {
  const path = url.slice('file://'.length).replace(/^\/(?=[A-Za-z]:\/)/, '')
  try {
    return decodeURIComponent(path)
  } catch {
    // A stray % is no encoding; the text itself is then all there is.
    return path
  }
}
