import { Mappings } from './mappings.js'

/** Start of a section in the generated code. Both numbers are 0-based. */
export interface Start {
  line: number
  column: number
}

/** A section as written in the map. */
export interface PlainSection {
  start: Start
  sources: unknown[]
  names: unknown[]
  /** Texts of the sources, in order. */
  contents: unknown[]
  mappings: string
  source_root: unknown
}

/** The parts of a section that are kept. */
export interface Section {
  start: Start
  sources: readonly (string | null)[]
  names: readonly (string | null)[]
  source_root: string | null
  mappings: Mappings
}

const SECTIONS_LIMIT = 50_000
const SOURCES_LIMIT = 50_000
const NAMES_LIMIT = 500_000
const LONGEST_SOURCE = 1000
const LONGEST_NAME = 100
/** Memory overhead of a string or array entry, and of a section. */
const BYTES_PER_ENTRY = 32
const BYTES_PER_SECTION = 500

/** Sections of a map in order; a plain map is one section. Throws if the text is not a source map. */
export function readSections(text: string): PlainSection[] {
  // Servers add this line to JSON so that no page can run it as a script.
  const json: unknown = JSON.parse(text.replace(/^\)\]\}'[^\n]*\n/, ''))
  const { sections } = Object(json) as { sections?: unknown }
  if (!Array.isArray(sections)) return [plainSection(json, { line: 0, column: 0 })]
  if (sections.length > SECTIONS_LIMIT) throw new RangeError('too many sections')
  const plain = sections.map(({ offset, map }) => plainSection(map, offset))
  return plain.sort((a, b) => a.start.line - b.start.line || a.start.column - b.start.column)
}

export function sectionOf(plain: PlainSection): Section {
  const mappings = Mappings.read(plain.mappings, plain.start)
  if (!mappings) throw new TypeError('no mappings')
  const [source_root = null] = texts([plain.source_root], LONGEST_SOURCE)
  const sources = texts(plain.sources, LONGEST_SOURCE)
  return { start: plain.start, sources, names: texts(plain.names, LONGEST_NAME), source_root, mappings }
}

export function bytesOf({ sources, names, mappings }: Section): number {
  const listed = (list: Section['names']) => list.reduce((sum, text) => sum + BYTES_PER_ENTRY + (text?.length ?? 0), 0)
  return BYTES_PER_SECTION + mappings.bytes + listed(sources) + listed(names)
}

export function isPosition(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 999_999_999
}

function plainSection(json: unknown, { line, column }: Start): PlainSection {
  if (!isPosition(line) || !isPosition(column)) throw new TypeError('a section without an offset')
  const { sources, sourcesContent, names, mappings, sourceRoot } = Object(json) as Record<string, unknown>
  if (typeof mappings !== 'string' || !Array.isArray(sources)) throw new TypeError('not a source map')
  const name_list = Array.isArray(names) ? names : []
  const contents = Array.isArray(sourcesContent) ? sourcesContent : []
  if (sources.length > SOURCES_LIMIT || name_list.length > NAMES_LIMIT) throw new RangeError('too many entries')
  return { start: { line, column }, sources, names: name_list, contents, mappings, source_root: sourceRoot }
}

function texts(values: unknown[], longest: number): (string | null)[] {
  return values.map((value) => (typeof value === 'string' && value.length <= longest ? value : null))
}
