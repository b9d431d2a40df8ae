import { parseFrame } from '../../model/stacks/backtrace.js'
import type { CodePosition } from './declared-name.js'
import { type FrameLocation, frameLocation } from './frame-location.js'
import { MapCache } from './map-cache.js'
import type { OnSkipped } from './map-text.js'
import type { OriginalPosition } from './parsed-map.js'

export interface SourcePositionsOptions {
  project_root: string
  /** Larger maps are not used, because reading a map blocks the host's event loop. */
  maxMapBytes?: number
  onSkipped?: OnSkipped
}

const MAX_MAP_BYTES = 20_000_000
const MAX_LINE_LENGTH = 1000
const MAX_CACHED_FILES = 1000
/**
 * Class names up to this length without a declaration in the file were probably created by a minifier. Only the method
 * name is kept.
 */
const MAX_MINIFIED_NAME_LENGTH = 2
/** Matches the text before the location of a named function: `at async new Cart (`, `at Cart.total [as sum] (`. */
const V8_NAME =
  /^(at (?:async )?(?:new )?)([\p{ID_Start}$_][\p{ID_Continue}$]*(?:\.[\p{ID_Start}$_][\p{ID_Continue}$]*)*) [[(]/u

/**
 * Maps stacks of compiled and bundled code to the original source, using source maps in the project. Nothing is
 * fetched, and nothing outside the project is read.
 * @example new SourcePositions({ project_root: '/app' }).original(['at total (/app/dist/cart.js:9:11)']) // ['at total
 * (/app/src/cart.ts:12:9)']
 */
export class SourcePositions {
  readonly #maps: MapCache
  readonly #projectRoot: string
  /** Limits the maps read for one stack, because each frame could be in another chunk of a bundle. */
  readonly #maxStackWeight: number
  readonly #onSkipped: OnSkipped
  readonly #mappedStacks = new WeakMap<readonly string[], readonly string[]>()
  /** Generated file of each original file to which a frame was mapped. */
  readonly #generated = new Map<string, string>()

  constructor({ project_root, maxMapBytes = MAX_MAP_BYTES, onSkipped = () => {} }: SourcePositionsOptions) {
    this.#projectRoot = project_root
    this.#onSkipped = onSkipped
    this.#maxStackWeight = maxMapBytes
    this.#maps = new MapCache({ project_root, maxBytes: maxMapBytes, onSkipped })
  }

  /**
   * Returns the same array for the same input array, and the input itself if nothing is mapped. The lines must not
   * change later.
   */
  original(lines: readonly string[]): readonly string[] {
    const cached = this.#mappedStacks.get(lines)
    if (cached) return cached
    const mapped = this.#mapLines(lines)
    this.#mappedStacks.set(lines, mapped).set(mapped, mapped)
    return mapped
  }

  /** Original names of variables visible between two positions of generated code, if known. */
  variableNames(
    file: string,
    span: readonly [CodePosition, CodePosition],
    names: readonly string[],
  ): ReadonlyMap<string, string> {
    try {
      return this.#maps.weigh(file) > 0 ? this.#maps.variableNames(file, span, names) : NO_NAMES
    } catch {
      // The names in the running code are better than no names.
      return NO_NAMES
    }
  }

  /** Text of an original source from the map of its generated file; null if no frame was mapped to this path. */
  sourceText(path: string): string | null {
    const file = this.#generated.get(path)
    return file === undefined ? null : this.#maps.sourceText(file, path)
  }

  #mapLines(lines: readonly string[]): readonly string[] {
    try {
      const frames = this.#lookUp(lines)
      const mapped = lines.map((line, i) => this.#rewriteLine(line, frames[i]))
      return mapped.some((line, i) => line !== lines[i]) ? Object.freeze(mapped) : lines
    } catch {
      // A stack in generated code is better than no stack.
      return lines
    }
  }

  /** Depends only on the files of the stack, not on the cache, so that repeats stay in one group. */
  #lookUp(lines: readonly string[]): readonly MappedFrame[] {
    const weights = new Map<string, number>()
    let total = 0
    return lines.map((line) => {
      const location = frameLocation(line)
      if (!location) return null
      const { file } = location
      if (!weights.has(file)) {
        const weight = total > this.#maxStackWeight ? 0 : this.#maps.weigh(file)
        if (total > this.#maxStackWeight) this.#onSkipped('stack_too_large', file)
        weights.set(file, weight)
        total += weight
      }
      const position = weights.get(file) ? this.#maps.find(file, location.line, location.column) : null
      // If a tool lists the generated file as its own source, the position would point to the wrong line.
      if (!position || position.path === file) return null
      if (!location.hasName) this.#remember(position.path, file)
      return { location, position }
    })
  }

  /** Remembers the generated file, because frames without a name need their source later. */
  #remember(path: string, file: string): void {
    if (this.#generated.size >= MAX_CACHED_FILES) this.#generated.clear()
    this.#generated.set(path, file)
  }

  /**
   * Rewrites the location and keeps anonymous functions anonymous, because the map may only contain the name of a
   * variable.
   */
  #rewriteLine(line: string, frame: MappedFrame | undefined): string {
    if (!frame) return line
    const { location, position } = frame
    const originalLocation = `${position.path}:${position.line}:${position.column}`
    const before = this.#renamePrefix(location)
    const name = parseFrame(`${before}${line.slice(location.before.length)}`, '').function_name
    const mapped = `${before}${originalLocation}${location.after}`
    return this.#parsesBack(mapped, position, name) ? mapped : line
  }

  /**
   * Restores original names. A minifier assigns names in order, so an edit elsewhere would change the name and the
   * group.
   */
  #renamePrefix({ before, file, line, column, hasName }: FrameLocation): string {
    const [, prefix, names] = (hasName && this.#maps.hasNames(file) && V8_NAME.exec(before)) || []
    if (prefix === undefined || names === undefined) return before
    const parts = names.split('.')
    const original = parts.flatMap((name, i) => {
      const declared = this.#maps.declaredName(file, line, column, name)
      return declared ?? (name.length <= MAX_MINIFIED_NAME_LENGTH && i < parts.length - 1 ? [] : name)
    })
    return `${prefix}${original.join('.')}${before.slice(prefix.length + names.length)}`
  }

  /**
   * Checks that the line still parses to this frame. The map controls the source name, such as `x (1.ts` or `eval at
   * y`.
   */
  #parsesBack(mapped: string, { line, column }: OriginalPosition, name: string | null): boolean {
    if (mapped.length > MAX_LINE_LENGTH) return false
    const frame = parseFrame(mapped, this.#projectRoot)
    return frame.line_number === line && frame.column === column && frame.function_name === name
  }
}

const NO_NAMES: ReadonlyMap<string, string> = new Map()

type MappedFrame = { location: FrameLocation; position: OriginalPosition } | null
