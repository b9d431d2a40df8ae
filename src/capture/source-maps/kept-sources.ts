import { originalPath } from './original-path.js'
import { readSections } from './sections.js'
import { shownPath, VIRTUAL_ROOT } from './stored-map.js'

const NEWLINE = 10
const LINE_BREAK = /\r\n|[\n\r]/
/** Characters that only some tools treat as line breaks. Inside a line they would look like its end. */
const OTHER_BREAKS = /[\u2028\u2029]/g

/** Source lines and the number of the first line. */
export interface SourceExcerpt {
  first: number
  lines: string[]
}

/**
 * Extracts the application's own sources from a map: a header line with names and lengths, then the texts, so that
 * each can be read separately. Null if the map contains none.
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

/** Reads the format written by `ownSources`. Throws for anything else. */
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

  /** The line with this number and up to `around` lines on either side; null if there is no such line. */
  excerpt(path: string, line_number: number, around: number): SourceExcerpt | null {
    const lines = this.#texts.get(path)?.toString('utf8').split(LINE_BREAK)
    if (!lines || line_number < 1 || line_number > lines.length) return null
    const first = Math.max(1, line_number - around)
    const shown = lines.slice(first - 1, line_number + around)
    return { first, lines: shown.map((line) => line.trimEnd().replace(OTHER_BREAKS, ' ')) }
  }
}
