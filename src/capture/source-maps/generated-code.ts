import type { CodePosition } from './declared-name.js'
import { findDeclaration, offsetToPosition, positionToOffset } from './declared-name.js'
import type { ProjectFiles } from './project-files.js'
import { findMentions } from './variable-names.js'

/** Searches the text of generated files for declarations and mentions, which a source map does not contain. */
export class GeneratedCode {
  readonly #files: ProjectFiles
  readonly #maxBytes: number
  /** Last file read, because a stack has many frames of one bundle. Released under memory pressure. */
  #lastFile: WeakRef<{ version: string; text: string }> | null = null

  constructor(files: ProjectFiles, maxBytes: number) {
    this.#files = files
    this.#maxBytes = maxBytes
  }

  /** Finds the declaration of the function or class that runs at a position, or null. */
  declaration(file: string, stamp: string, { line, column }: CodePosition, name: string): CodePosition | null {
    const text = this.#text(file, `${file}:${stamp}`)
    const offset = text === null ? null : findDeclaration(text, positionToOffset(text, line, column), name)
    return text === null || offset === null ? null : offsetToPosition(text, offset)
  }

  /** Finds mentions of variables between two positions. */
  mentions(file: string, stamp: string, [from, to]: readonly [CodePosition, CodePosition], names: readonly string[]) {
    const text = this.#text(file, `${file}:${stamp}`)
    return text === null ? null : findMentions(text, from, to, names)
  }

  #text(file: string, version: string): string | null {
    const last = this.#lastFile?.deref()
    if (last?.version === version) return last.text
    try {
      const text = this.#files.read(file, ({ size, tail }) => (size > this.#maxBytes ? null : tail(size).toString()))
      if (text !== null) this.#lastFile = new WeakRef({ version, text })
      return text
    } catch {
      // The file was deleted or locked after its map was read. Positions remain correct without names.
      return null
    }
  }
}
