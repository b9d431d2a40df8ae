import { fileURLToPath } from 'node:url'

/** Position in a local file that a stack line contains, and the text around it. */
export interface FrameLocation {
  before: string
  file: string
  /** Both are 1-based, as in V8. */
  line: number
  column: number
  after: string
  hasName: boolean
}

/** Finds the location in a V8 stack line; null if it names no file: `node:`, `native`, `<anonymous>`. */
export function frameLocation(text: string): FrameLocation | null {
  if (!text.startsWith('at ')) return null
  const { from, to, hasName } = evalSpan(text) ?? plainSpan(text)
  if (from < 0) return null
  const location = text.slice(from, to)
  const position = /:(\d{1,9}):(\d{1,9})$/.exec(location)
  if (!position) return null
  const file = localPath(location.slice(0, position.index))
  if (file === null) return null
  const [, line, column] = position.map(Number) as [number, number, number]
  return { before: text.slice(0, from), file, line, column, after: text.slice(to), hasName }
}

interface Span {
  from: number
  to: number
  hasName: boolean
}

/** Finds the call of eval, because evaluated code has no file: `eval at load (/app/x.js:1:2), <anonymous>:3:4`. */
function evalSpan(text: string): Span | null {
  const start = text.lastIndexOf('eval at ')
  if (start < 0) return null
  const open = text.indexOf(' (', start)
  const close = text.indexOf(')', open)
  return open < 0 || close < 0 ? null : { from: open + 2, to: close, hasName: true }
}

/** Names (`[Symbol(x)]`) and paths can contain parentheses, but only a path begins directly after a parenthesis. */
const PATH_AFTER_PARENTHESIS = /\((?=file:\/\/|\/|[A-Za-z]:[\\/])/

function plainSpan(text: string): Span {
  if (!text.endsWith(')'))
    return { from: /^at (?:async )?/.exec(text)?.[0].length ?? -1, to: text.length, hasName: false }
  const open = text.search(PATH_AFTER_PARENTHESIS)
  return { from: open < 0 ? -1 : open + 1, to: text.length - 1, hasName: true }
}

function localPath(location: string): string | null {
  if (!location.startsWith('file://')) return /^(?:\/|[A-Za-z]:[\\/])/.test(location) ? location : null
  try {
    return fileURLToPath(location)
  } catch {
    // A URL with a host, or with an encoded slash, is not a local file.
    return null
  }
}
