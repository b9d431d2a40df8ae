import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import type { Frame } from '../model/backtrace.js'
import { ProjectFiles } from './source-maps/project-files.js'
import type { SourcePositions } from './source-positions.js'

/** Larger files are bundles or data. Reading one would hold up the host for more than a few milliseconds. */
const MAX_FILE_BYTES = 5_000_000
/** Distinct lines that are remembered: more than an application has places that throw. */
const MAX_REMEMBERED_LINES = 5000
/** How far above its line the call is searched for that a callback was passed to. */
const MAX_CALL_DISTANCE = 300
/** The lines of a call whose arguments are written one below the other. */
const MAX_CALL_LINES = 10
/** A longer line is minified code, where only the part around the column counts. */
const MAX_LINE_LENGTH = 300
const MINIFIED_REACH = 80
const DIGEST_LENGTH = 12

const SOURCE_FILE = /\.(?:[cm]?[jt]sx?|vue|svelte|astro|marko|coffee|civet)$/i

export interface SourceLinesOptions {
  project_root: string
  /** Finds original sources that are not on disk but in a source map. */
  positions: SourcePositions | undefined
}

/**
 * Digests of source lines, which identify functions without a name. A line is read once, synchronously, from a file of
 * the project. The digest covers the line and the call that the function was passed to, without white space: it is the
 * same in every folder, in every process, and after edits elsewhere in the file.
 */
export class SourceLines {
  readonly #project_root: string
  readonly #files: ProjectFiles
  readonly #positions: SourcePositions | undefined
  readonly #digests = new Map<string, string | null>()
  /** The file that was read last. Several frames of one stack often share it. */
  #last: { path: string; lines: WeakRef<readonly string[]> } | null = null

  constructor({ project_root, positions }: SourceLinesOptions) {
    this.#project_root = project_root
    this.#files = new ProjectFiles(project_root)
    this.#positions = positions
  }

  /**
   * Null where the source is missing, unreadable, too large or outside of the project. The line of a caller does not
   * count, only its function: a helper that one handler calls twice is one place.
   */
  digest({ file, line_number, column }: Frame, isCaller = false): string | null {
    if (file === null || line_number === null) return null
    const key = `${isCaller ? 'caller ' : ''}${file}:${line_number}:${column ?? ''}`
    const known = this.#digests.get(key)
    if (known !== undefined) return known
    const digest = this.#read(file, (lines) =>
      isCaller ? describeFunction(lines, line_number) : describeLine(lines, line_number, column),
    )
    if (this.#digests.size >= MAX_REMEMBERED_LINES) this.#digests.clear()
    this.#digests.set(key, digest)
    return digest
  }

  #read(file: string, describe: (lines: readonly string[]) => string | null): string | null {
    try {
      if (!SOURCE_FILE.test(file)) return null
      const lines = this.#linesOf(resolve(this.#project_root, file))
      const text = lines && describe(lines)
      return text ? createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LENGTH) : null
    } catch {
      // Missing, or this process may not read it.
      return null
    }
  }

  #linesOf(path: string): readonly string[] | null {
    const known = this.#last?.path === path ? this.#last.lines.deref() : undefined
    if (known) return known
    const text = this.#onDisk(path) ?? this.#positions?.sourceText(path) ?? null
    if (text === null) return null
    const lines = text.split(/\r\n|[\n\r]/)
    this.#last = { path, lines: new WeakRef(lines) }
    return lines
  }

  #onDisk(path: string): string | null {
    return this.#files.read(path, (found) =>
      found.size > MAX_FILE_BYTES ? null : found.tail(found.size).toString('utf8'),
    )
  }
}

/** The line and the call around it as text without white space; null where there is no such line. */
function describeLine(lines: readonly string[], line_number: number, column: number | null): string | null {
  const line = lines[line_number - 1]
  if (line === undefined || line.trim() === '') return null
  if (line.length > MAX_LINE_LENGTH) return minifiedPart(line, column)
  // A function that is written on one line includes the call already.
  const call = STARTS_FUNCTION.test(line) ? '' : enclosingCall(lines, line_number - 1)
  return `${compact(call)}\n${compact(line)}`
}

/** The call that the function around a line is passed to; null at the top of a module and in minified code. */
function describeFunction(lines: readonly string[], line_number: number): string | null {
  const line = lines[line_number - 1]
  if (line === undefined || line.length > MAX_LINE_LENGTH) return null
  return compact(STARTS_FUNCTION.test(line) ? line : enclosingCall(lines, line_number - 1)) || null
}

const STARTS_FUNCTION = /=>|\bfunction\b/

function compact(code: string): string {
  return code
    .replace(/\s+/g, '')
    .replace(/["`]/g, "'")
    .replace(/[;,]+$/, '')
}

/** The nearest line above that is indented less and starts a function, from the start of the call it is passed to. */
function enclosingCall(lines: readonly string[], index: number): string {
  let indentation = indentationOf(lines[index] ?? '')
  for (let i = index - 1; i >= Math.max(0, index - MAX_CALL_DISTANCE) && indentation > 0; i--) {
    const line = lines[i] ?? ''
    if (line.trim() === '' || indentationOf(line) >= indentation) continue
    indentation = indentationOf(line)
    if (STARTS_FUNCTION.test(line)) return callUpTo(lines, i)
  }
  return ''
}

/** `app.get(`, `'/users',` and `(req, res) => {` may each have a line of their own. */
function callUpTo(lines: readonly string[], index: number): string {
  const line = lines[index] ?? ''
  const indentation = indentationOf(line)
  if (!/^\s*(?:async\b|function\b|\()/.test(line) || indentation === 0) return line
  for (let i = index - 1; i >= Math.max(0, index - MAX_CALL_LINES); i--) {
    const above = lines[i] ?? ''
    if (above.trim() !== '' && indentationOf(above) < indentation) return lines.slice(i, index + 1).join('')
  }
  return line
}

function indentationOf(line: string): number {
  return line.length - line.trimStart().length
}

/** The statement around the column, without the names that a minifier chooses anew in each build. */
function minifiedPart(line: string, column: number | null): string | null {
  if (column === null || column > line.length) return null
  const before = line.slice(Math.max(0, column - 1 - MINIFIED_REACH), column - 1)
  const after = line.slice(column - 1, column - 1 + MINIFIED_REACH)
  const statement = `${before.slice(before.search(/[^;{}]*$/))}${after.split(/[;{}]/, 1)[0] ?? ''}`
  return compact(statement.replace(/(?<![\w$.])[A-Za-z_$][\w$]?(?![\w$])/g, '_')) || null
}
