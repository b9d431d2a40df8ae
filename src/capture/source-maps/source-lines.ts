import { hash } from 'node:crypto'
import { resolve } from 'node:path'
import type { Frame } from '../../model/stacks/backtrace.js'
import { ProjectFiles } from './project-files.js'
import type { SourcePositions } from './source-positions.js'

/** Larger files are bundles or data. Reading such a file would block the host for more than a few milliseconds. */
const MAX_FILE_BYTES = 5_000_000
/** Maximum number of cached lines. Few applications throw from more locations. */
const MAX_CACHED_LINES = 5000
/** Number of lines to search upward for the call that received a callback. */
const MAX_CALL_DISTANCE = 300
/** Maximum number of lines of a call whose arguments are on separate lines. */
const MAX_CALL_LINES = 10
/** Longer lines are minified code, of which only the part around the column is used. */
const MAX_LINE_LENGTH = 300
const MAX_MINIFIED_CONTEXT_LENGTH = 80
/** Number of characters to search backward for enclosing functions in minified code. */
const MAX_MINIFIED_DISTANCE = 2000
/**
 * Maximum number of enclosing functions that identify a callback, such as a query inside a promise inside a route
 * handler.
 */
const MAX_ENCLOSING_CALLS = 3
const DIGEST_LENGTH = 12

const SOURCE_FILE = /\.(?:[cm]?[jt]sx?|vue|svelte|astro|marko|coffee|civet)$/i

export interface SourceLinesOptions {
  project_root: string
  /** Provides original sources that are in a source map but not on disk. */
  positions: SourcePositions | undefined
}

/**
 * Digests of source lines, which identify functions without a name. Reads a line once, synchronously, from a project
 * file. The digest covers the line and the call that received the function, without whitespace. It does not change
 * between folders and processes, or with edits elsewhere in the file.
 */
export class SourceLines {
  readonly #projectRoot: string
  readonly #files: ProjectFiles
  readonly #positions: SourcePositions | undefined
  readonly #digests = new Map<string, string | null>()
  /** Last file read, because frames of one stack often share a file. */
  #lastFile: { path: string; lines: WeakRef<readonly string[]> } | null = null

  constructor({ project_root, positions }: SourceLinesOptions) {
    this.#projectRoot = project_root
    this.#files = new ProjectFiles(project_root)
    this.#positions = positions
  }

  /**
   * Returns null if the source is missing, unreadable, too large or outside the project. For a caller, covers only its
   * function, so that a helper that one handler calls twice is one location.
   */
  digest({ file, line_number, column }: Frame, isCaller = false): string | null {
    if (file === null || line_number === null) return null
    const key = `${isCaller ? 'caller ' : ''}${file}:${line_number}:${column ?? ''}`
    const cached = this.#digests.get(key)
    if (cached !== undefined) return cached
    const digest = this.#read(file, (lines) =>
      isCaller ? describeFunction(lines, line_number, column) : describeLine(lines, line_number, column),
    )
    if (this.#digests.size >= MAX_CACHED_LINES) this.#digests.clear()
    this.#digests.set(key, digest)
    return digest
  }

  #read(file: string, describe: (lines: readonly string[]) => string | null): string | null {
    try {
      if (!SOURCE_FILE.test(file)) return null
      const lines = this.#readLines(resolve(this.#projectRoot, file))
      const text = lines && describe(lines)
      return text ? hash('sha256', text).slice(0, DIGEST_LENGTH) : null
    } catch {
      // Missing, or not readable by this process.
      return null
    }
  }

  #readLines(path: string): readonly string[] | null {
    const cached = this.#lastFile?.path === path ? this.#lastFile.lines.deref() : undefined
    if (cached) return cached
    const text = this.#readFromDisk(path) ?? this.#positions?.sourceText(path) ?? null
    if (text === null) return null
    const lines = text.split(/\r\n|[\n\r]/)
    this.#lastFile = { path, lines: new WeakRef(lines) }
    return lines
  }

  #readFromDisk(path: string): string | null {
    return this.#files.read(path, (found) =>
      found.size > MAX_FILE_BYTES ? null : found.tail(found.size).toString('utf8'),
    )
  }
}

/** Returns the line and the calls around it without whitespace. Null if the line does not exist. */
function describeLine(lines: readonly string[], line_number: number, column: number | null): string | null {
  const line = lines[line_number - 1]
  if (line === undefined || line.trim() === '') return null
  if (line.length > MAX_LINE_LENGTH) return minifiedPart(line, column)
  return `${describeCalls(lines, line_number, column)}\n${compact(line)}`
}

/** Calls that receive the function around a line; null at the top level of a module and in minified code. */
function describeFunction(lines: readonly string[], line_number: number, column: number | null): string | null {
  const line = lines[line_number - 1]
  if (line === undefined || line.length > MAX_LINE_LENGTH) return null
  return describeCalls(lines, line_number, column) || null
}

/** Includes the line itself if it starts a function. The column selects one of several functions on the line. */
function describeCalls(lines: readonly string[], line_number: number, column: number | null): string {
  const line = lines[line_number - 1] ?? ''
  const starts = [...line.matchAll(FUNCTION_STARTS)]
  const outerCalls = enclosingCalls(lines, line_number - 1)
  if (starts.length === 0) return outerCalls.map(compact).join('\n')
  const position = starts.filter(({ index }) => column !== null && index < column).length
  const ownCall = starts.length > 1 && position > 0 ? `${compact(line)}\n${position}` : compact(line)
  return [ownCall, ...outerCalls.map(compact)].join('\n')
}

const FUNCTION_STARTS = /=>|\bfunction\b/g
const FUNCTION_START = /=>|\bfunction\b/
/** Matches a method such as `async list(req) {`, but not a statement with a block. */
const METHOD_START =
  /^\s*(?:(?:public|private|protected|static|override|async|get|set)\s+|\*)*(?!(?:if|for|while|switch|catch|with|return)\b)[\w$#]+\s*\([^()]*\)[^(){}]*\{\s*$/
/** Matches a named function, whose name identifies it better than the calls around it. */
const NAMED_FUNCTION = /\bfunction\s*\*?\s*[\w$]|^\s*(?:export\s+)?(?:const|let|var)\s+[\w$]+\s*[=:]/

function compact(code: string): string {
  return code
    .replace(/\s+/g, '')
    .replace(/["`]/g, "'")
    .replace(/[;,]+$/, '')
}

/** Finds less indented lines above that start a function, innermost first, up to a named function. */
function enclosingCalls(lines: readonly string[], index: number): string[] {
  const calls: string[] = []
  let indentation = indentWidth(lines[index] ?? '')
  for (let i = index - 1; i >= Math.max(0, index - MAX_CALL_DISTANCE) && indentation > 0; i--) {
    const line = lines[i] ?? ''
    if (line.trim() === '' || indentWidth(line) >= indentation) continue
    indentation = indentWidth(line)
    const isMethod = METHOD_START.test(line)
    if (!isMethod && !FUNCTION_START.test(line)) continue
    calls.push(isMethod ? line : joinCall(lines, i))
    if (isMethod || NAMED_FUNCTION.test(line) || calls.length === MAX_ENCLOSING_CALLS) break
  }
  return calls
}

/** Joins the lines of a call: `app.get(`, `'/users',` and `(req, res) => {` can each be on a separate line. */
function joinCall(lines: readonly string[], index: number): string {
  const line = lines[index] ?? ''
  const indentation = indentWidth(line)
  if (!/^\s*(?:async\b|function\b|\()/.test(line) || indentation === 0) return line
  for (let i = index - 1; i >= Math.max(0, index - MAX_CALL_LINES); i--) {
    const above = lines[i] ?? ''
    if (above.trim() !== '' && indentWidth(above) < indentation) return lines.slice(i, index + 1).join('')
  }
  return line
}

function indentWidth(line: string): number {
  return line.length - line.trimStart().length
}

/** Returns the statement at the column and its enclosing functions, without parts that differ between builds. */
function minifiedPart(line: string, column: number | null): string | null {
  if (column === null || column > line.length) return null
  const offset = column - 1
  const before = line.slice(Math.max(0, offset - MAX_MINIFIED_CONTEXT_LENGTH), offset)
  const after = line.slice(offset, offset + MAX_MINIFIED_CONTEXT_LENGTH)
  const statement = `${lastStatement(before)}${after.split(/[;{}]/, 1)[0] ?? ''}`
  return [statement, ...minifiedCalls(line, offset)].map(withoutShortNames).join('\n').trim() || null
}

/** Matches an arrow function, `function(a,b)` or a method, but not a statement with a block. */
const FUNCTION_HEADER =
  /(?:=>|(?<![\w$.])(?!(?:if|for|while|switch|catch|with)\()(?:function )?[\w$#]{1,80}\([^(){}]{0,200}\))$/

/** Headers of the functions whose braces are open at a position, innermost first: `_.get('/users',async(_,_)=>`. */
function minifiedCalls(line: string, offset: number): string[] {
  const calls: string[] = []
  let closed = 0
  for (
    let i = offset - 1;
    i >= Math.max(0, offset - MAX_MINIFIED_DISTANCE) && calls.length < MAX_ENCLOSING_CALLS;
    i--
  ) {
    const character = line[i]
    if (character === '}') closed++
    else if (character === '{' && closed > 0) closed--
    else if (character === '{') {
      const before = line.slice(Math.max(0, i - MAX_MINIFIED_CONTEXT_LENGTH), i)
      if (FUNCTION_HEADER.test(before)) calls.push(lastStatement(before))
    }
  }
  return calls
}

function lastStatement(code: string): string {
  return code.slice(code.search(/[^;{}]*$/))
}

/** Replaces short names and module numbers, which change with every build. Keeps quoted text. */
function withoutShortNames(code: string): string {
  return compact(
    code.replace(/"[^"]*"|'[^']*'|`[^`]*`|(?<![\w$.])(?:[A-Za-z_$][\w$]?|\d{2,})(?![\w$])/g, (found) =>
      /["'`]/.test(found) ? found : '_',
    ),
  )
}
