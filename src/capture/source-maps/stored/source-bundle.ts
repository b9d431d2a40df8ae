import { originalPath } from '../original-path.js'
import { readSections } from '../sections.js'
import { displayPath, VIRTUAL_ROOT } from './stored-map.js'

const NEWLINE = 10
const LINE_BREAK = /\r\n|[\n\r]/
/** Characters that only some tools treat as line breaks. Replaced, so that all tools count the same lines. */
const OTHER_BREAKS = /[\u2028\u2029]/g

/** Source lines and the number of the first line. */
export interface SourceExcerpt {
  first: number
  lines: string[]
}

/**
 * Extracts the application's own sources from a map. A header line contains names and lengths, so that each of the
 * following sources can be read separately. Null if the map contains none.
 */
export function packOwnSources(map: string, folder: string): Buffer | null {
  const texts = new Map<string, Buffer>()
  for (const { sources, contents, sourceRoot } of readSections(map)) {
    for (const [i, source] of sources.entries()) {
      const text = contents[i]
      const path = originalPath({ source, sourceRoot, folder: `${VIRTUAL_ROOT}${folder}`, project_root: VIRTUAL_ROOT })
      if (typeof text === 'string' && path !== null && !path.includes('/node_modules/')) {
        texts.set(displayPath(path), Buffer.from(text))
      }
    }
  }
  if (texts.size === 0) return null
  const header = JSON.stringify([...texts].map(([path, text]) => [path, text.length]))
  return Buffer.concat([Buffer.from(`${header}\n`), ...texts.values()])
}

/** Reads the format written by `packOwnSources`. Throws for anything else. */
export class SourceBundle {
  readonly #texts = new Map<string, Buffer>()

  constructor(bundle: Buffer) {
    const end = bundle.indexOf(NEWLINE)
    let offset = end + 1
    for (const [path, length] of JSON.parse(bundle.toString('utf8', 0, end)) as [string, number][]) {
      this.#texts.set(path, bundle.subarray(offset, offset + length))
      offset += length
    }
  }

  /** Returns a line with up to `contextLines` lines on either side. Null if the line does not exist. */
  excerpt(path: string, line_number: number, contextLines: number): SourceExcerpt | null {
    const lines = this.#texts.get(path)?.toString('utf8').split(LINE_BREAK)
    if (!lines || line_number < 1 || line_number > lines.length) return null
    const first = Math.max(1, line_number - contextLines)
    const excerptLines = lines.slice(first - 1, line_number + contextLines)
    return { first, lines: excerptLines.map((line) => line.trimEnd().replace(OTHER_BREAKS, ' ')) }
  }
}
