import type { CodePosition } from './declared-name.js'
import { GeneratedCode } from './generated-code.js'
import type { OnSkipped, SkipReason } from './map-text.js'
import { readMapText } from './map-text.js'
import { originalPath } from './original-path.js'
import { type OriginalPosition, ParsedMap } from './parsed-map.js'
import { ProjectFiles } from './project-files.js'
import { readSections } from './sections.js'

const MAX_FILES = 1000
const MAX_POSITIONS = 20_000
/** Parsing a map with its sources blocks the host for about 10 ms per MB. */
const MAX_CONTENT_BYTES = 4_000_000

/** Known facts about a generated file. */
interface GeneratedFile {
  stamp: string
  /** Zero if there is no usable map. */
  weight: number
  map: ParsedMap | null
  /** Kept longer than the map, so that repeated lookups do not read the map again. */
  positions: Map<string, OriginalPosition | null>
  /** Cached function names, kept as long as the positions. */
  names: Map<string, string | null>
  hasNames: boolean
}

/** LRU cache of source maps. Files without a map are cached too. */
export class MapCache {
  readonly #files: ProjectFiles
  readonly #code: GeneratedCode
  readonly #projectRoot: string
  readonly #maxBytes: number
  readonly #onSkipped: OnSkipped
  /** In order of last use. */
  readonly #generated = new Map<string, GeneratedFile>()
  /** Memory of all cached maps, at most the size of the largest allowed map file. */
  #cachedBytes = 0
  #positions = 0

  constructor(options: { project_root: string; maxBytes: number; onSkipped: OnSkipped }) {
    this.#files = new ProjectFiles(options.project_root)
    this.#code = new GeneratedCode(this.#files, options.maxBytes)
    this.#projectRoot = options.project_root
    this.#maxBytes = options.maxBytes
    this.#onSkipped = options.onSkipped
  }

  /** Returns the number of bytes to read for this file. Called once per stack, to detect rewritten files. */
  weigh(file: string): number {
    const entry = this.#generated.get(file)
    if (!entry && !(isGenerated(file) && this.#files.contains(file))) return 0
    const stamp = this.#files.stamp(file)
    if (entry?.stamp === stamp) return entry.weight
    if (entry) this.#forget(file, entry)
    const created: GeneratedFile = {
      stamp,
      weight: 0,
      map: null,
      positions: new Map(),
      names: new Map(),
      hasNames: false,
    }
    this.#generated.set(file, created)
    this.#load(file, created)
    created.weight = created.map?.weight ?? 0
    this.#evictMaps()
    return created.weight
  }

  find(file: string, line: number, column: number): OriginalPosition | null {
    const entry = this.#generated.get(file)
    if (!entry || entry.weight === 0) return null
    this.#generated.delete(file)
    this.#generated.set(file, entry)
    const key = `${line}:${column}`
    const cached = entry.positions.get(key)
    if (cached !== undefined) return cached
    if (entry.map === null) this.#load(file, entry)
    const found = entry.map?.find(line, column) ?? null
    this.#evictPositions()
    entry.positions.set(key, found)
    this.#evictMaps()
    return found
  }

  /**
   * Original name of the function or class that runs at this position. Null if it is not declared before the position,
   * such as a method or an inherited class.
   */
  declaredName(file: string, line: number, column: number, name: string): string | null {
    const entry = this.#generated.get(file)
    if (!entry?.hasNames) return null
    const key = `${line}:${column}:${name}`
    const cached = entry.names.get(key)
    if (cached !== undefined) return cached
    const declared = this.#code.declaration(file, entry.stamp, { line, column }, name)
    const found = declared ? (this.find(file, declared.line, declared.column)?.name ?? name) : null
    this.#evictPositions()
    entry.names.set(key, found)
    return found
  }

  /** Original names of variables between two positions of generated code, if the map contains them. */
  variableNames(
    file: string,
    span: readonly [CodePosition, CodePosition],
    names: readonly string[],
  ): ReadonlyMap<string, string> {
    const entry = this.#generated.get(file)
    const found = new Map<string, string>()
    if (!entry?.hasNames) return found
    const nameKey = (name: string) => `${span[0].line}:${span[0].column} ${name}`
    const missing = names.filter((name) => !entry.names.has(nameKey(name)))
    const mentions = missing.length > 0 ? this.#code.mentions(file, entry.stamp, span, missing) : null
    for (const name of missing) {
      const original = mentions
        ?.get(name)
        ?.map(({ line, column }) => this.find(file, line, column)?.name)
        .find((candidate) => candidate)
      this.#evictPositions()
      entry.names.set(nameKey(name), original ?? null)
    }
    for (const name of names) {
      const original = entry.names.get(nameKey(name))
      if (original) found.set(name, original)
    }
    return found
  }

  /** Checks whether the tool that wrote this file may have renamed identifiers. */
  hasNames(file: string): boolean {
    return this.#generated.get(file)?.hasNames ?? false
  }

  /** Text of an original file, if the map contains it. */
  sourceText(file: string, path: string): string | null {
    try {
      const found = readMapText(this.#files, file, Math.min(this.#maxBytes, MAX_CONTENT_BYTES))
      if (found === null || typeof found === 'string') return null
      const folders = { folder: found.folder, project_root: this.#projectRoot }
      for (const { sources, contents, sourceRoot } of readSections(found.withContents())) {
        const index = sources.findIndex((source) => originalPath({ source, sourceRoot, ...folders }) === path)
        const text = index < 0 ? null : contents[index]
        if (typeof text === 'string') return text
      }
      return null
    } catch {
      // Unreadable, or not a source map.
      return null
    }
  }

  #load(file: string, entry: GeneratedFile): void {
    const loaded = this.#read(file)
    if (typeof loaded === 'string') this.#onSkipped(loaded, file)
    if (loaded === null || typeof loaded === 'string') return
    entry.map = loaded
    entry.hasNames = loaded.hasNames
    this.#cachedBytes += loaded.bytes
  }

  #read(file: string): ParsedMap | SkipReason | null {
    try {
      const found = readMapText(this.#files, file, this.#maxBytes)
      if (found === null || typeof found === 'string') return found
      return ParsedMap.parse(found, this.#maxBytes, this.#projectRoot) ?? 'map_too_large'
    } catch {
      // Unreadable, invalid JSON, or not a source map: the frames stay unchanged.
      return 'map_broken'
    }
  }

  #evictPositions(): void {
    if (this.#positions >= MAX_POSITIONS) {
      for (const { positions, names } of this.#generated.values()) {
        positions.clear()
        names.clear()
      }
      this.#positions = 0
    }
    this.#positions++
  }

  #evictMaps(): void {
    for (const [file, entry] of this.#generated) {
      if (this.#generated.size > MAX_FILES) this.#forget(file, entry)
      else if (this.#cachedBytes > this.#maxBytes) this.#drop(entry)
      else return
    }
  }

  #forget(file: string, entry: GeneratedFile): void {
    this.#drop(entry)
    this.#positions -= entry.positions.size + entry.names.size
    this.#generated.delete(file)
  }

  #drop(entry: GeneratedFile): void {
    this.#cachedBytes -= entry.map?.bytes ?? 0
    entry.map = null
  }
}

/**
 * Excludes libraries, whose maps would point to the same library, and TypeScript files, which are already the original.
 */
function isGenerated(file: string): boolean {
  return !/[\\/]node_modules[\\/]|\.[cm]?tsx?$/.test(file)
}
