import { originalPath } from './original-path.js'
import { readSections } from './sections.js'
import { shownPath, VIRTUAL_ROOT } from './stored-map.js'

const NEWLINE = 10
const LINE_BREAK = /\r\n|[\n\r]/
/** What some count as the end of a line and some do not: in one of the lines it would look like an end. */
const OTHER_BREAKS = /[\u2028\u2029]/g

/** Lines of a source, and the number of the first of them. */
export interface SourceExcerpt {
  first: number
  lines: string[]
}

/**
 * The application's own sources of a map, as they are kept beside it: one line that lists their names and lengths, then
 * the texts. So one of them is read without the others. Null where the map brings none.
 */
export function ownSources(map: string, folder: string): Buffer | null {
  const texts = new Map<string, Buffer>()
  for (const { sources, contents, source_root } of readSections(map)) {
    for (const [i, source] of sources.entries()) {
      const text = contents[i]
      const path = originalPath({ source, source_root, folder: `${VIRTUAL_ROOT}${folder}`, project_root: VIRTUAL_ROOT })
      if (typeof text === 'string' && path !== null && !path.includes('/node_modules/')) {
        texts.set(shownPath(path), Buffer.from(text))
      }
    }
  }
  if (texts.size === 0) return null
  const listed = JSON.stringify([...texts].map(([path, text]) => [path, text.length]))
  return Buffer.concat([Buffer.from(`${listed}\n`), ...texts.values()])
}

/** What `ownSources` gave, to be looked up in. Throws at anything else. */
export class KeptSources {
  readonly #texts = new Map<string, Buffer>()

  constructor(kept: Buffer) {
    const end = kept.indexOf(NEWLINE)
    let at = end + 1
    for (const [path, length] of JSON.parse(kept.toString('utf8', 0, end)) as [string, number][]) {
      this.#texts.set(path, kept.subarray(at, at + length))
      at += length
    }
  }

  /** The line of this number with as many as `around` before and after it; null where there is no such line. */
  excerpt(path: string, line_number: number, around: number): SourceExcerpt | null {
    const lines = this.#texts.get(path)?.toString('utf8').split(LINE_BREAK)
    if (!lines || line_number < 1 || line_number > lines.length) return null
    const first = Math.max(1, line_number - around)
    const shown = lines.slice(first - 1, line_number + around)
    return { first, lines: shown.map((line) => line.trimEnd().replace(OTHER_BREAKS, ' ')) }
  }
}
