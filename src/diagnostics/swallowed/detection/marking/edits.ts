/** Edit of a line: original column, length of the inserted text, and growth of the line. */
export type LineEdit = readonly [column: number, length: number, growth: number]

/** Edits by line. Lines start at one, columns at zero. */
export type EditedLines = ReadonlyMap<number, readonly LineEdit[]>

interface Edit {
  offset: number
  removed: number
  text: string
}

/**
 * Edits of a text that keep its line structure: no edit adds or removes a line break. Edits at the same offset keep their
 * insertion order. This suits opening text, because outer nodes are visited first. Closing texts never share an offset:
 * each ends inside a pair of brackets or at the end of a statement.
 */
export class Edits {
  readonly #code: string
  readonly #edits: Edit[] = []
  #lineStarts: number[] | null = null

  constructor(code: string) {
    this.#code = code
  }

  get size(): number {
    return this.#edits.length
  }

  insert(offset: number, text: string): void {
    this.#edits.push({ offset, removed: 0, text })
  }

  replace(offset: number, removed: number, text: string): void {
    this.#edits.push({ offset, removed, text })
  }

  /** Returns the line and column of an offset, both starting at one. */
  position(offset: number): { line: number; column: number } {
    const starts = this.#readLineStarts()
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] as number) <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - (starts[low] as number) + 1 }
  }

  apply(): { code: string; lines: EditedLines } {
    const sorted = this.#edits
      .map((edit, i) => ({ edit, i }))
      .sort((a, b) => a.edit.offset - b.edit.offset || a.i - b.i)
    const lines = new Map<number, LineEdit[]>()
    let code = ''
    let end = 0
    for (const { edit } of sorted) {
      const { line, column } = this.position(edit.offset)
      const lineEdits = lines.get(line) ?? []
      lineEdits.push([column - 1, edit.text.length, edit.text.length - edit.removed])
      lines.set(line, lineEdits)
      code += this.#code.slice(end, edit.offset) + edit.text
      end = edit.offset + edit.removed
    }
    return { code: code + this.#code.slice(end), lines }
  }

  #readLineStarts(): number[] {
    if (this.#lineStarts) return this.#lineStarts
    const starts = [0]
    for (const { index, 0: end } of this.#code.matchAll(/\r\n|[\n\r\u2028\u2029]/g)) starts.push(index + end.length)
    this.#lineStarts = starts
    return starts
  }
}

/** Converts a column of the edited line to the original column. Both start at zero. */
export function columnBefore(edits: readonly LineEdit[], column: number): number {
  let totalGrowth = 0
  for (const [editColumn, length, growth] of edits) {
    const start = editColumn + totalGrowth
    if (column < start) break
    if (column < start + length && growth > 0) return editColumn
    totalGrowth += growth
  }
  return column - totalGrowth
}

/** Converts a column of the original line to the column after the edits. Both start at zero. */
export function columnAfter(edits: readonly LineEdit[], column: number): number {
  let totalGrowth = 0
  for (const [editColumn, , growth] of edits) {
    if (editColumn > column) break
    totalGrowth += growth
  }
  return column + totalGrowth
}
