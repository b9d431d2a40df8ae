import type { MapText } from './map-text.js'
import type { Segment } from './mappings.js'
import { originalPath } from './original-path.js'
import { isPosition, readSections, type Section, type SectionStart, sectionBytes, toSection } from './sections.js'

/** A position in original code. Line and column are 1-based. */
export interface OriginalPosition {
  path: string
  line: number
  column: number
  /** Original name at exactly this position; for a call, the name of the called function. */
  name: string | null
}

interface MapFolders {
  folder: string
  project_root: string
}

/** Weight of a byte of mappings, which are slower to read than the rest of the map. */
const BYTES_PER_MAPPING_BYTE = 5
const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$.#-]*$/u

/** Source map prepared for lookups: the text of its mappings, with checkpoints. */
export class ParsedMap {
  /** Estimated cost of reading the map, in bytes. */
  readonly weight: number
  /** Approximate memory size. */
  readonly bytes: number
  /** True if the map contains original names, which means that a tool renamed identifiers. */
  readonly hasNames: boolean
  readonly #sections: readonly Section[]
  readonly #folders: MapFolders

  private constructor(sections: readonly Section[], weight: number, folders: MapFolders) {
    this.weight = weight
    this.bytes = sections.reduce((sum, section) => sum + sectionBytes(section), 0)
    this.hasNames = sections.some(({ names }) => names.length > 0)
    this.#sections = sections
    this.#folders = folders
  }

  /** Throws if the text is not a source map. Returns null for a map that would take too long to read. */
  static parse(
    { text, bytes, folder }: Omit<MapText, 'withContents'>,
    maxBytes: number,
    project_root: string,
  ): ParsedMap | null {
    const plainSections = readSections(text)
    const weight = plainSections.reduce((sum, { mappings }) => sum + mappings.length, 0) * BYTES_PER_MAPPING_BYTE
    if (weight > maxBytes) return null
    return new ParsedMap(plainSections.map(toSection), Math.max(weight, bytes), { folder, project_root })
  }

  find(line: number, column: number): OriginalPosition | null {
    for (let i = this.#sections.length - 1; i >= 0; i--) {
      const section = this.#sections[i] as Section
      if (startsAfter(section.start, line - 1, column - 1)) continue
      const segment = section.mappings.find(line - 1, column - 1)
      if (segment) return this.#position(section, segment, column - 1)
      // Sections do not overlap: earlier sections end where this section starts.
      if (section.start.line < line - 1) return null
    }
    return null
  }

  #position({ sources, names, sourceRoot }: Section, segment: Segment, column: number): OriginalPosition | null {
    if (segment.source === null || !isPosition(segment.line) || !isPosition(segment.column)) return null
    const path = originalPath({ source: sources[segment.source], sourceRoot, ...this.#folders })
    if (path === null) return null
    const name = segment.generatedColumn === column ? names[segment.name ?? -1] : null
    return {
      path,
      line: segment.line + 1,
      column: segment.column + 1,
      name: name && IDENTIFIER.test(name) ? name : null,
    }
  }
}

function startsAfter(start: SectionStart, line: number, column: number): boolean {
  return start.line > line || (start.line === line && start.column > column)
}
