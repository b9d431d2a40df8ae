import module from 'node:module'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ProjectFiles } from '../../../capture/source-maps/project-files.js'
import { codeMapOf } from './code-map.js'
import type { EditedLines } from './edits.js'
import type { SourceType } from './syntax.js'
import { transform } from './transform.js'

export interface InstrumentOptions {
  /** Only what lies below it, and in no library, is marked. */
  root: string
  /** Where we lie ourselves. */
  own_folder: string
  /** What was added to a file, and whether a map that fits it came with the code. */
  onMarked(file: string, lines: EditedLines, is_mapped: boolean): void
  onUnreadable(file: string): void
}

/** A file as Node.js has loaded it and is about to run it. */
export interface Loaded {
  url: string
  source: unknown
  format: string | null | undefined
}

/** Parsing takes time that the host's start has to wait for. */
const MAX_BYTES = 5_000_000

/** Marks the host's own modules as they are loaded. */
export class Instrument {
  readonly #options: InstrumentOptions
  readonly #files: ProjectFiles

  constructor(options: InstrumentOptions) {
    this.#options = options
    this.#files = new ProjectFiles(options.root)
  }

  /** What is to run in its place, or null for the file as it is. Never throws: a host must start. */
  of({ url, source, format }: Loaded): { source: string; format: string | null | undefined } | null {
    try {
      const file = url.startsWith('file:') ? fileURLToPath(url) : null
      if (file === null || !this.#isHosts(file) || !/^(?:module|commonjs)/.test(format ?? 'commonjs')) return null
      const text = textOf(source)
      if (text === null || text.length > MAX_BYTES) return null
      const is_typescript = format?.endsWith('-typescript') ?? false
      const code = is_typescript ? withoutTypes(text, url) : text
      const marked = this.#marked(code, file, typesOf(format))
      return marked === null ? null : { source: marked, format: format?.replace('-typescript', '') }
    } catch {
      // A map that cannot be shifted, types that cannot be taken away: the file runs as it is.
      return null
    }
  }

  /** The code of a file of CommonJS, for a Node.js without hooks for it. */
  commonjs(code: string, file: string): string | null {
    try {
      return this.#isHosts(file) && code.length <= MAX_BYTES ? this.#marked(code, file, ['commonjs']) : null
    } catch {
      // As above.
      return null
    }
  }

  #marked(code: string, file: string, types: readonly SourceType[]): string | null {
    const { root, onMarked, onUnreadable } = this.#options
    const source_maps_enabled = (process as { sourceMapsEnabled?: boolean }).sourceMapsEnabled ?? false
    const map = codeMapOf(code, { files: this.#files, file, root, source_maps_enabled })
    const marked = transform(code, { file, root, types, map, onUnreadable: () => onUnreadable(file) })
    if (marked === null) return null
    onMarked(file, marked.lines, map !== null)
    return marked.code
  }

  #isHosts(file: string): boolean {
    const { root, own_folder } = this.#options
    return file.startsWith(root + sep) && !file.startsWith(own_folder + sep) && !/[\\/]node_modules[\\/]/.test(file)
  }
}

function typesOf(format: string | null | undefined): SourceType[] {
  if (!format) return ['commonjs', 'module']
  return format.startsWith('module') ? ['module'] : ['commonjs']
}

function textOf(source: unknown): string | null {
  if (typeof source === 'string') return source
  if (source instanceof Uint8Array) return Buffer.from(source.buffer, source.byteOffset, source.byteLength).toString()
  return source instanceof ArrayBuffer ? Buffer.from(source).toString() : null
}

interface TypeStripper {
  stripTypeScriptTypes?: (code: string, options: { mode: 'strip'; sourceUrl: string }) => string
}

/** As Node.js does it: types become blanks, so that nothing moves. */
function withoutTypes(code: string, sourceUrl: string): string {
  const { stripTypeScriptTypes } = module as TypeStripper
  if (!stripTypeScriptTypes) throw new TypeError('types cannot be taken away')
  const { emitWarning } = process
  // It warns that it is experimental, once, and the host did not ask for it.
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(code, { mode: 'strip', sourceUrl })
  } finally {
    process.emitWarning = emitWarning
  }
}
