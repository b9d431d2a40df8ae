import type { Place } from './declared-name.js'
import { declarationOf, offsetOf, positionAt } from './declared-name.js'
import type { ProjectFiles } from './project-files.js'
import { mentionsOf } from './variable-names.js'

/** The text of generated files, as far as a map does not tell what has to be known. */
export class GeneratedCode {
  readonly #files: ProjectFiles
  readonly #max_bytes: number
  /** What was read last, for as long as there is room for it: a stack has many frames of one bundle. */
  #last: WeakRef<{ version: string; text: string }> | null = null

  constructor(files: ProjectFiles, max_bytes: number) {
    this.#files = files
    this.#max_bytes = max_bytes
  }

  /** Where the function or class of this name is declared that runs at a place, or null. */
  declaration(file: string, stamp: string, { line, column }: Place, name: string): Place | null {
    const text = this.#text(file, `${file}:${stamp}`)
    const at = text === null ? null : declarationOf(text, offsetOf(text, line, column), name)
    return text === null || at === null ? null : positionAt(text, at)
  }

  /** Where variables are mentioned between two places. */
  mentions(file: string, stamp: string, [from, to]: readonly [Place, Place], names: readonly string[]) {
    const text = this.#text(file, `${file}:${stamp}`)
    return text === null ? null : mentionsOf(text, from, to, names)
  }

  #text(file: string, version: string): string | null {
    const last = this.#last?.deref()
    if (last?.version === version) return last.text
    try {
      const text = this.#files.read(file, ({ size, tail }) => (size > this.#max_bytes ? null : tail(size).toString()))
      if (text !== null) this.#last = new WeakRef({ version, text })
      return text
    } catch {
      // Gone or locked since its map was read: the positions are right without the names, too.
      return null
    }
  }
}
