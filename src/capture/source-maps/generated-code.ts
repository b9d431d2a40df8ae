import type { Place } from './declared-name.js'
import { declarationOf, offsetOf, positionAt } from './declared-name.js'
import type { ProjectFiles } from './project-files.js'
import { mentionsOf } from './variable-names.js'

/** Text of generated files, for facts that a source map does not contain. */
export class GeneratedCode {
  readonly #files: ProjectFiles
  readonly #max_bytes: number
  /** The last file read, released under memory pressure: a stack has many frames of one bundle. */
  #last: WeakRef<{ version: string; text: string }> | null = null

  constructor(files: ProjectFiles, max_bytes: number) {
    this.#files = files
    this.#max_bytes = max_bytes
  }

  /** Finds the declaration of the function or class that runs at a position, or null. */
  declaration(file: string, stamp: string, { line, column }: Place, name: string): Place | null {
    const text = this.#text(file, `${file}:${stamp}`)
    const at = text === null ? null : declarationOf(text, offsetOf(text, line, column), name)
    return text === null || at === null ? null : positionAt(text, at)
  }

  /** Finds mentions of variables between two positions. */
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
      // Deleted or locked after its map was read: positions are correct without names too.
      return null
    }
  }
}
