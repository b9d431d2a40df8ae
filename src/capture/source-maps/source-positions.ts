import { parseFrame } from '../../model/stacks/backtrace.js'
import type { Place } from './declared-name.js'
import { type FrameLocation, frameLocation } from './frame-location.js'
import { MapCache } from './map-cache.js'
import type { OriginalPosition } from './parsed-map.js'
import type { OnSkipped } from './skip-reason.js'

export interface SourcePositionsOptions {
  project_root: string
  /** Larger maps are not used: reading one blocks the host's event loop. */
  max_map_bytes?: number
  onSkipped?: OnSkipped
}

const MAX_MAP_BYTES = 20_000_000
const LINE_LIMIT = 1000
const MAX_REMEMBERED_FILES = 1000
/**
 * A class name this short that is declared elsewhere was probably created by a minifier: only the method name is kept.
 */
const SHORT_NAME = 2
/** `at async new Cart (`, `at Cart.total [as sum] (`: the text before the location of a named function. */
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
  readonly #project_root: string
  /** Limits the maps read for one stack, because each frame could be in another chunk of a bundle. */
  readonly #stack_limit: number
  readonly #onSkipped: OnSkipped
  readonly #known = new WeakMap<readonly string[], readonly string[]>()
  /** Generated files by the original files that frames were mapped to. */
  readonly #generated = new Map<string, string>()

  constructor({ project_root, max_map_bytes = MAX_MAP_BYTES, onSkipped = () => {} }: SourcePositionsOptions) {
    this.#project_root = project_root
    this.#onSkipped = onSkipped
    this.#stack_limit = max_map_bytes
    this.#maps = new MapCache({ project_root, max_bytes: max_map_bytes, onSkipped })
  }

  /**
   * Returns the same array for the same input array, and the input itself if nothing is mapped. The lines must not
   * change later.
   */
  original(lines: readonly string[]): readonly string[] {
    const known = this.#known.get(lines)
    if (known) return known
    const mapped = this.#mapped(lines)
    this.#known.set(lines, mapped).set(mapped, mapped)
    return mapped
  }

  /** Original names of variables visible between two positions of generated code, if known. */
  variableNames(file: string, span: readonly [Place, Place], names: readonly string[]): ReadonlyMap<string, string> {
    try {
      return this.#maps.weigh(file) > 0 ? this.#maps.variableNames(file, span, names) : NO_NAMES
    } catch {
      // The names of the running code are better than none.
      return NO_NAMES
    }
  }

  /** Text of an original source from the map of its generated file; null if no frame was mapped to this path. */
  sourceText(path: string): string | null {
    const file = this.#generated.get(path)
    return file === undefined ? null : this.#maps.sourceText(file, path)
  }

  #mapped(lines: readonly string[]): readonly string[] {
    try {
      const frames = this.#lookUp(lines)
      const mapped = lines.map((line, i) => this.#rewritten(line, frames[i]))
      return mapped.some((line, i) => line !== lines[i]) ? Object.freeze(mapped) : lines
    } catch {
      // A stack in generated code is better than none.
      return lines
    }
  }

  /** Depends only on the files of the stack, not on the cache: repeats must stay in one group. */
  #lookUp(lines: readonly string[]): readonly Mapped[] {
    const weights = new Map<string, number>()
    let total = 0
    return lines.map((line) => {
      const location = frameLocation(line)
      if (!location) return null
      const { file } = location
      if (!weights.has(file)) {
        const weight = total > this.#stack_limit ? 0 : this.#maps.weigh(file)
        if (total > this.#stack_limit) this.#onSkipped('stack_too_large', file)
        weights.set(file, weight)
        total += weight
      }
      const position = weights.get(file) ? this.#maps.find(file, location.line, location.column) : null
      // If a tool lists the generated file as its own source, the position would point to the wrong line.
      if (!position || position.path === file) return null
      if (!location.has_name) this.#remember(position.path, file)
      return { location, position }
    })
  }

  /** Only frames without a name need their source later. */
  #remember(path: string, file: string): void {
    if (this.#generated.size >= MAX_REMEMBERED_FILES) this.#generated.clear()
    this.#generated.set(path, file)
  }

  /** A function without a name stays without one: the variable used in the call names a parameter, not a location. */
  #rewritten(line: string, frame: Mapped | undefined): string {
    if (!frame) return line
    const { location, position } = frame
    const place = `${position.path}:${position.line}:${position.column}`
    const before = this.#renamed(location)
    const name = parseFrame(`${before}${line.slice(location.before.length)}`, '').function_name
    const mapped = `${before}${place}${location.after}`
    return this.#readsBack(mapped, position, name) ? mapped : line
  }

  /** A minifier assigns names in order: an edit elsewhere would change the name here, and so the group. */
  #renamed({ before, file, line, column, has_name }: FrameLocation): string {
    const [, way, names] = (has_name && this.#maps.hasNames(file) && V8_NAME.exec(before)) || []
    if (way === undefined || names === undefined) return before
    const parts = names.split('.')
    const original = parts.flatMap((name, i) => {
      const declared = this.#maps.declaredName(file, line, column, name)
      return declared ?? (name.length <= SHORT_NAME && i < parts.length - 1 ? [] : name)
    })
    return `${way}${original.join('.')}${before.slice(way.length + names.length)}`
  }

  /** The map controls the source name: `x (1.ts` or `eval at y` must not produce another frame. */
  #readsBack(mapped: string, { line, column }: OriginalPosition, name: string | null): boolean {
    if (mapped.length > LINE_LIMIT) return false
    const frame = parseFrame(mapped, this.#project_root)
    return frame.line_number === line && frame.column === column && frame.function_name === name
  }
}

const NO_NAMES: ReadonlyMap<string, string> = new Map()

type Mapped = { location: FrameLocation; position: OriginalPosition } | null
