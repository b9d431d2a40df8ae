import type { MapText } from './map-text.js'
import type { Segment } from './mappings.js'
import { originalPath } from './original-path.js'
import { bytesOf, isPosition, readSections, type Section, type Start, sectionOf } from './sections.js'

/** A position in original code; line and column count from one. */
export interface OriginalPosition {
  path: string
  line: number
  column: number
  /** The original name of what stands at exactly this position: for a call, of what is called. */
  name: string | null
}

interface MapFolders {
  folder: string
  project_root: string
}

/** Reading mappings takes longer than reading as much of the rest, so that they have a limit of their own. */
const BYTES_PER_MAPPING_BYTE = 5
const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$.#-]*$/u

/** A map that is ready for look-ups: the text of its mappings, and a few places to start from. */
export class ParsedMap {
  /** What the time to read it goes by, in bytes of a map. */
  readonly weight: number
  /** About how much memory it takes. */
  readonly bytes: number
  /** Whether it tells what something was called: only then a tool has renamed anything. */
  readonly has_names: boolean
  readonly #sections: readonly Section[]
  readonly #folders: MapFolders

  private constructor(sections: readonly Section[], weight: number, folders: MapFolders) {
    this.weight = weight
    this.bytes = sections.reduce((sum, section) => sum + bytesOf(section), 0)
    this.has_names = sections.some(({ names }) => names.length > 0)
    this.#sections = sections
    this.#folders = folders
  }

  /** Throws at what is no source map; gives null for one that would take too long to read. */
  static parse(
    { text, bytes, folder }: Omit<MapText, 'whole'>,
    max_bytes: number,
    project_root: string,
  ): ParsedMap | null {
    const plain = readSections(text)
    const weight = plain.reduce((sum, { mappings }) => sum + mappings.length, 0) * BYTES_PER_MAPPING_BYTE
    if (weight > max_bytes) return null
    return new ParsedMap(plain.map(sectionOf), Math.max(weight, bytes), { folder, project_root })
  }

  find(line: number, column: number): OriginalPosition | null {
    for (let i = this.#sections.length - 1; i >= 0; i--) {
      const section = this.#sections[i] as Section
      if (isBehind(section.start, line - 1, column - 1)) continue
      const segment = section.mappings.find(line - 1, column - 1)
      if (segment) return this.#position(section, segment, column - 1)
      // Sections do not overlap: those before this one have ended where it starts.
      if (section.start.line < line - 1) return null
    }
    return null
  }

  #position({ sources, names, source_root }: Section, segment: Segment, column: number): OriginalPosition | null {
    if (segment.source === null || !isPosition(segment.line) || !isPosition(segment.column)) return null
    const path = originalPath({ source: sources[segment.source], source_root, ...this.#folders })
    if (path === null) return null
    const name = segment.generated_column === column ? names[segment.name ?? -1] : null
    return {
      path,
      line: segment.line + 1,
      column: segment.column + 1,
      name: name && IDENTIFIER.test(name) ? name : null,
    }
  }
}

function isBehind(start: Start, line: number, column: number): boolean {
  return start.line > line || (start.line === line && start.column > column)
}
