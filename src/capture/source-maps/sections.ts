import { Mappings } from './mappings.js'

/** Start of a section in the generated code. Both numbers are 0-based. */
export interface SectionStart {
  line: number
  column: number
}

/** A section as written in the map. */
export interface PlainSection {
  start: SectionStart
  sources: unknown[]
  names: unknown[]
  /** Texts of the sources, in the same order. */
  contents: unknown[]
  mappings: string
  sourceRoot: unknown
}

/** Parts of a section to keep in memory. */
export interface Section {
  start: SectionStart
  sources: readonly (string | null)[]
  names: readonly (string | null)[]
  sourceRoot: string | null
  mappings: Mappings
}

const MAX_SECTIONS = 50_000
const MAX_SOURCES = 50_000
const MAX_NAMES = 500_000
const MAX_SOURCE_LENGTH = 1000
const MAX_NAME_LENGTH = 100
/** Memory overhead of a string or array entry, and of a section. */
const BYTES_PER_ENTRY = 32
const BYTES_PER_SECTION = 500

/** Sections of a map in order; a plain map is one section. Throws if the text is not a source map. */
export function readSections(text: string): PlainSection[] {
  // Removes the line that servers prepend to JSON to prevent its execution as a script.
  const json: unknown = JSON.parse(text.replace(/^\)\]\}'[^\n]*\n/, ''))
  const { sections } = Object(json) as { sections?: unknown }
  if (!Array.isArray(sections)) return [plainSection(json, { line: 0, column: 0 })]
  if (sections.length > MAX_SECTIONS) throw new RangeError('too many sections')
  const plain = sections.map(({ offset, map }) => plainSection(map, offset))
  return plain.sort((a, b) => a.start.line - b.start.line || a.start.column - b.start.column)
}

export function toSection(plain: PlainSection): Section {
  const mappings = Mappings.read(plain.mappings, plain.start)
  if (!mappings) throw new TypeError('no mappings')
  const [sourceRoot = null] = boundedTexts([plain.sourceRoot], MAX_SOURCE_LENGTH)
  const sources = boundedTexts(plain.sources, MAX_SOURCE_LENGTH)
  return { start: plain.start, sources, names: boundedTexts(plain.names, MAX_NAME_LENGTH), sourceRoot, mappings }
}

export function sectionBytes({ sources, names, mappings }: Section): number {
  const textBytes = (list: Section['names']) =>
    list.reduce((sum, text) => sum + BYTES_PER_ENTRY + (text?.length ?? 0), 0)
  return BYTES_PER_SECTION + mappings.bytes + textBytes(sources) + textBytes(names)
}

export function isPosition(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 999_999_999
}

function plainSection(json: unknown, { line, column }: SectionStart): PlainSection {
  if (!isPosition(line) || !isPosition(column)) throw new TypeError('a section without an offset')
  const { sources, sourcesContent, names, mappings, sourceRoot } = Object(json) as Record<string, unknown>
  if (typeof mappings !== 'string' || !Array.isArray(sources)) throw new TypeError('not a source map')
  const nameList = Array.isArray(names) ? names : []
  const contents = Array.isArray(sourcesContent) ? sourcesContent : []
  if (sources.length > MAX_SOURCES || nameList.length > MAX_NAMES) throw new RangeError('too many entries')
  return { start: { line, column }, sources, names: nameList, contents, mappings, sourceRoot: sourceRoot }
}

function boundedTexts(values: unknown[], maxLength: number): (string | null)[] {
  return values.map((value) => (typeof value === 'string' && value.length <= maxLength ? value : null))
}
