import { Mappings } from './mappings.js'

/** Where in the generated code a section begins; both count from zero. */
export interface Start {
  line: number
  column: number
}

/** A section as a map tells it. */
export interface PlainSection {
  start: Start
  sources: unknown[]
  names: unknown[]
  /** The texts of the sources, in their order. */
  contents: unknown[]
  mappings: string
  source_root: unknown
}

/** What is kept of a section, without whatever else a map may hold. */
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
/** A string or an array entry takes memory beside its letters, and so does a section. */
const BYTES_PER_ENTRY = 32
const BYTES_PER_SECTION = 500

/** The sections of a map's text in their order; a plain map is one from the start. Throws at what is no source map. */
export function readSections(text: string): PlainSection[] {
  // Servers put this line before JSON so that no page can run it as a script.
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
  if (!isPosition(line) || !isPosition(column)) throw new TypeError('a section without a place')
  const { sources, sourcesContent, names, mappings, sourceRoot } = Object(json) as Record<string, unknown>
  if (typeof mappings !== 'string' || !Array.isArray(sources)) throw new TypeError('no source map')
  const name_list = Array.isArray(names) ? names : []
  const contents = Array.isArray(sourcesContent) ? sourcesContent : []
  if (sources.length > SOURCES_LIMIT || name_list.length > NAMES_LIMIT) throw new RangeError('too much is listed')
  return { start: { line, column }, sources, names: name_list, contents, mappings, source_root: sourceRoot }
}

function texts(values: unknown[], longest: number): (string | null)[] {
  return values.map((value) => (typeof value === 'string' && value.length <= longest ? value : null))
}
