import module from 'node:module'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ProjectFiles } from '../../../../capture/source-maps/project-files.js'
import { readCodeMap } from './code-map.js'
import type { ShiftedLines } from './shifted-lines.js'
import type { SourceType } from './syntax.js'
import { transform } from './transform.js'

export interface InstrumentOptions {
  /** Project folder. Only files in it and outside node_modules are marked. */
  root: string
  /** Folder of this package, which is not marked. */
  ownFolder: string
  /** Called for each marked file. `isMapped` is true if the code has a source map. */
  onMarked(file: string, lines: ShiftedLines, isMapped: boolean): void
  onUnreadable(file: string): void
}

/** A module that Node.js has read but not run yet. */
export interface LoadedModule {
  url: string
  source: unknown
  format: string | null | undefined
}

/** Limits the parsing time, which delays the host's startup. */
const MAX_BYTES = 5_000_000

/** Marks the host's own modules as they are loaded. Never throws, because the host must start. */
export class Instrument {
  readonly #options: InstrumentOptions
  readonly #files: ProjectFiles

  constructor(options: InstrumentOptions) {
    this.#options = options
    this.#files = new ProjectFiles(options.root)
  }

  /** Returns the source to run instead, or null to run the module unchanged. */
  markModule({ url, source, format }: LoadedModule): { source: string; format: string | null | undefined } | null {
    try {
      const file = url.startsWith('file:') ? fileURLToPath(url) : null
      if (file === null || !this.#isHostFile(file) || !/^(?:module|commonjs)/.test(format ?? 'commonjs')) return null
      const text = sourceText(source)
      if (text === null || text.length > MAX_BYTES) return null
      const isTypeScript = format?.endsWith('-typescript') ?? false
      const code = isTypeScript ? stripTypes(text, url) : text
      const marked = this.#mark(code, file, sourceTypes(format))
      return marked === null ? null : { source: marked, format: format?.replace('-typescript', '') }
    } catch {
      // A source map that cannot be shifted or types that cannot be stripped. The file runs unchanged.
      return null
    }
  }

  /** Marks a CommonJS file, for Node.js versions without hooks for `require`. */
  markCommonjs(code: string, file: string): string | null {
    try {
      return this.#isHostFile(file) && code.length <= MAX_BYTES ? this.#mark(code, file, ['commonjs']) : null
    } catch {
      // The file runs unchanged.
      return null
    }
  }

  #mark(code: string, file: string, types: readonly SourceType[]): string | null {
    const { root, onMarked, onUnreadable } = this.#options
    const sourceMapsEnabled = (process as { sourceMapsEnabled?: boolean }).sourceMapsEnabled ?? false
    const map = readCodeMap(code, { files: this.#files, file, root, sourceMapsEnabled })
    const marked = transform(code, { file, root, types, map, onUnreadable: () => onUnreadable(file) })
    if (marked === null) return null
    onMarked(file, marked.lines, map !== null)
    return marked.code
  }

  #isHostFile(file: string): boolean {
    const { root, ownFolder } = this.#options
    return file.startsWith(root + sep) && !file.startsWith(ownFolder + sep) && !/[\\/]node_modules[\\/]/.test(file)
  }
}

function sourceTypes(format: string | null | undefined): SourceType[] {
  if (!format) return ['commonjs', 'module']
  return format.startsWith('module') ? ['module'] : ['commonjs']
}

function sourceText(source: unknown): string | null {
  if (typeof source === 'string') return source
  if (source instanceof Uint8Array) return Buffer.from(source.buffer, source.byteOffset, source.byteLength).toString()
  return source instanceof ArrayBuffer ? Buffer.from(source).toString() : null
}

interface TypeStripper {
  stripTypeScriptTypes?: (code: string, options: { mode: 'strip'; sourceUrl: string }) => string
}

/** Replaces types with blanks as Node.js does, so that columns stay unchanged. */
function stripTypes(code: string, sourceUrl: string): string {
  const { stripTypeScriptTypes } = module as TypeStripper
  if (!stripTypeScriptTypes) throw new TypeError('This Node.js version cannot strip types')
  const { emitWarning } = process
  // Suppresses the ExperimentalWarning of a feature that the host did not call.
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(code, { mode: 'strip', sourceUrl })
  } finally {
    process.emitWarning = emitWarning
  }
}
