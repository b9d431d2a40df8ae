import { fileURLToPath } from 'node:url'

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

const V8_FRAME = /^\s*at (?:async )?(?:(.*?) \()?((?:file:\/\/|[a-z]+:\/\/)?[^()]*?)(?::(\d+))?(?::(\d+))?\)?$/
const LINE_LIMIT = 1000

/**
 * The frame lines of a `stack` string. The message stands at its top and may itself hold lines that look like frames,
 * so it is skipped by its own length where V8 wrote it there.
 */
export function stackLines(stack: string, message: string, limit: number): string[] {
  const start = message !== '' ? stack.indexOf(message) : -1
  const body = start >= 0 && start < 300 ? stack.slice(start + message.length) : stack
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

/** One line of a backtrace in its parts; a line in a shape we do not know is kept whole as the function's name. */
export function parseFrame(line: string, root: string): Frame {
  const short = line.length > LINE_LIMIT ? line.slice(0, LINE_LIMIT) : line
  const match = V8_FRAME.exec(short)
  if (!match) return { line, function_name: short.trim(), file: null, line_number: null, column: null, in_app: true }
  const [, name, location = '', row, column] = match
  const file = relativeFile(location, root)
  return {
    line,
    function_name: name?.trim() || null,
    file: file.path || null,
    line_number: row === undefined ? null : Number(row),
    column: column === undefined ? null : Number(column),
    in_app: file.in_app,
  }
}

/** The frame a person looks at first: the newest one in the host's own code, else the newest at all. */
export function culprit(backtrace: readonly string[], root: string): Frame | null {
  const frames = backtrace.slice(0, 50).map((line) => parseFrame(line, root))
  return frames.find((frame) => frame.in_app) ?? frames[0] ?? null
}

/** `src/cart.ts:12 in total`, for lists and messages. */
export function placeText(frame: Frame): string {
  const where = frame.file ? `${frame.file}${frame.line_number === null ? '' : `:${frame.line_number}`}` : ''
  if (!where) return frame.function_name ?? ''
  return frame.function_name ? `${where} in ${frame.function_name}` : where
}

function relativeFile(location: string, root: string): { path: string; in_app: boolean } {
  if (location.startsWith('node:') || location === 'native' || location === '<anonymous>' || location === '') {
    return { path: location, in_app: false }
  }
  const path = location.startsWith('file://') ? pathOfUrl(location) : location
  const library = path.lastIndexOf('node_modules/')
  if (library >= 0) return { path: path.slice(library), in_app: false }
  const prefix = root.endsWith('/') ? root : `${root}/`
  if (path.startsWith(prefix)) return { path: path.slice(prefix.length), in_app: true }
  // A stack of another machine (a browser, a phone, an earlier deployment): its paths are that application's own code.
  return { path, in_app: !path.startsWith('node:') }
}

function pathOfUrl(url: string): string {
  try {
    return fileURLToPath(url)
  } catch {
    // A frame may name a file URL of another host; the text itself is then all there is to show.
    return url
  }
}
