import type { Place } from './declared-name.js'
import { GeneratedCode } from './generated-code.js'
import { mapTextOf } from './map-text.js'
import { originalPath } from './original-path.js'
import { type OriginalPosition, ParsedMap } from './parsed-map.js'
import { ProjectFiles } from './project-files.js'
import { readSections } from './sections.js'
import type { OnSkipped, SkipReason } from './skip-reason.js'

const FILES_LIMIT = 1000
const POSITIONS_LIMIT = 20_000
/** Parsing a map with its sources blocks the host for about 10 ms per megabyte. */
const MAX_CONTENT_BYTES = 4_000_000

/** Known facts about a generated file. */
interface Generated {
  stamp: string
  /** Zero if there is no usable map. */
  weight: number
  map: ParsedMap | null
  /** Outlives the map, so that repeated lookups do not read it again. */
  positions: Map<string, OriginalPosition | null>
  /** Cached function names, kept like the positions. */
  names: Map<string, string | null>
  has_names: boolean
}

/** LRU cache of source maps. Files without a map are cached too. */
export class MapCache {
  readonly #files: ProjectFiles
  readonly #code: GeneratedCode
  readonly #project_root: string
  readonly #max_bytes: number
  readonly #onSkipped: OnSkipped
  /** In order of last use. */
  readonly #generated = new Map<string, Generated>()
  /** Memory of all cached maps, at most the size of the largest allowed map file. */
  #kept_bytes = 0
  #positions = 0

  constructor(options: { project_root: string; max_bytes: number; onSkipped: OnSkipped }) {
    this.#files = new ProjectFiles(options.project_root)
    this.#code = new GeneratedCode(this.#files, options.max_bytes)
    this.#project_root = options.project_root
    this.#max_bytes = options.max_bytes
    this.#onSkipped = options.onSkipped
  }

  /** Returns the amount to read for this file. Called once per stack; detects that the file was rewritten. */
  weigh(file: string): number {
    const known = this.#generated.get(file)
    if (!known && !(isGenerated(file) && this.#files.holds(file))) return 0
    const stamp = this.#files.stamp(file)
    if (known?.stamp === stamp) return known.weight
    if (known) this.#forget(file, known)
    const fresh: Generated = { stamp, weight: 0, map: null, positions: new Map(), names: new Map(), has_names: false }
    this.#generated.set(file, fresh)
    this.#load(file, fresh)
    fresh.weight = fresh.map?.weight ?? 0
    this.#shrink()
    return fresh.weight
  }

  find(file: string, line: number, column: number): OriginalPosition | null {
    const known = this.#generated.get(file)
    if (!known || known.weight === 0) return null
    this.#generated.delete(file)
    this.#generated.set(file, known)
    const key = `${line}:${column}`
    const remembered = known.positions.get(key)
    if (remembered !== undefined) return remembered
    if (known.map === null) this.#load(file, known)
    const found = known.map?.find(line, column) ?? null
    this.#makeRoom()
    known.positions.set(key, found)
    this.#shrink()
    return found
  }

  /**
   * Original name of the function or class that runs at this position. Null if it is not declared before the position,
   * such as a method or an inherited class.
   */
  declaredName(file: string, line: number, column: number, name: string): string | null {
    const known = this.#generated.get(file)
    if (!known?.has_names) return null
    const key = `${line}:${column}:${name}`
    const remembered = known.names.get(key)
    if (remembered !== undefined) return remembered
    const declared = this.#code.declaration(file, known.stamp, { line, column }, name)
    const found = declared ? (this.find(file, declared.line, declared.column)?.name ?? name) : null
    this.#makeRoom()
    known.names.set(key, found)
    return found
  }

  /** Original names of variables between two positions of generated code, if the map contains them. */
  variableNames(file: string, span: readonly [Place, Place], names: readonly string[]): ReadonlyMap<string, string> {
    const known = this.#generated.get(file)
    const found = new Map<string, string>()
    if (!known?.has_names) return found
    const keyOf = (name: string) => `${span[0].line}:${span[0].column} ${name}`
    const unknown = names.filter((name) => !known.names.has(keyOf(name)))
    const mentions = unknown.length > 0 ? this.#code.mentions(file, known.stamp, span, unknown) : null
    for (const name of unknown) {
      const original = mentions
        ?.get(name)
        ?.map(({ line, column }) => this.find(file, line, column)?.name)
        .find((one) => one)
      this.#makeRoom()
      known.names.set(keyOf(name), original ?? null)
    }
    for (const name of names) {
      const original = known.names.get(keyOf(name))
      if (original) found.set(name, original)
    }
    return found
  }

  /** Whether the tool that wrote this file may have renamed identifiers. */
  hasNames(file: string): boolean {
    return this.#generated.get(file)?.has_names ?? false
  }

  /** Text of an original file, if the map contains it. */
  sourceText(file: string, path: string): string | null {
    try {
      const found = mapTextOf(this.#files, file, Math.min(this.#max_bytes, MAX_CONTENT_BYTES))
      if (found === null || typeof found === 'string') return null
      const folders = { folder: found.folder, project_root: this.#project_root }
      for (const { sources, contents, source_root } of readSections(found.whole())) {
        const at = sources.findIndex((source) => originalPath({ source, source_root, ...folders }) === path)
        const text = at < 0 ? null : contents[at]
        if (typeof text === 'string') return text
      }
      return null
    } catch {
      // Unreadable, or not a source map.
      return null
    }
  }

  #load(file: string, into: Generated): void {
    const read = this.#read(file)
    if (typeof read === 'string') this.#onSkipped(read, file)
    if (read === null || typeof read === 'string') return
    into.map = read
    into.has_names = read.has_names
    this.#kept_bytes += read.bytes
  }

  #read(file: string): ParsedMap | SkipReason | null {
    try {
      const found = mapTextOf(this.#files, file, this.#max_bytes)
      if (found === null || typeof found === 'string') return found
      return ParsedMap.parse(found, this.#max_bytes, this.#project_root) ?? 'map_too_large'
    } catch {
      // Unreadable, invalid JSON, or not a source map: the frames stay unchanged.
      return 'map_broken'
    }
  }

  #makeRoom(): void {
    if (this.#positions >= POSITIONS_LIMIT) {
      for (const { positions, names } of this.#generated.values()) {
        positions.clear()
        names.clear()
      }
      this.#positions = 0
    }
    this.#positions++
  }

  #shrink(): void {
    for (const [file, known] of this.#generated) {
      if (this.#generated.size > FILES_LIMIT) this.#forget(file, known)
      else if (this.#kept_bytes > this.#max_bytes) this.#drop(known)
      else return
    }
  }

  #forget(file: string, known: Generated): void {
    this.#drop(known)
    this.#positions -= known.positions.size + known.names.size
    this.#generated.delete(file)
  }

  #drop(known: Generated): void {
    this.#kept_bytes -= known.map?.bytes ?? 0
    known.map = null
  }
}

/** Maps of libraries would point to the same library, and a TypeScript file in a stack is already the original. */
function isGenerated(file: string): boolean {
  return !/[\\/]node_modules[\\/]|\.[cm]?tsx?$/.test(file)
}
