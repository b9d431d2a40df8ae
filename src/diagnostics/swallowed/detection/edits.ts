/** What was added on a line: where it stood before, how long it is, and how much longer the line became by it. */
export type LineEdit = readonly [column: number, length: number, growth: number]

/** By line, counting from one; columns count from zero. */
export type EditedLines = ReadonlyMap<number, readonly LineEdit[]>

interface Edit {
  at: number
  removed: number
  text: string
}

/**
 * Changes of a text that keep its lines: nothing that is added or taken away holds the end of one. At one offset, what was
 * added first comes first. That is right for what opens, as outer code is looked at before what it holds; what closes
 * must never meet at one offset, and does not: each mark ends inside a pair of brackets, or at a statement's end.
 */
export class Edits {
  readonly #code: string
  readonly #edits: Edit[] = []
  #starts: number[] | null = null

  constructor(code: string) {
    this.#code = code
  }

  get size(): number {
    return this.#edits.length
  }

  insert(at: number, text: string): void {
    this.#edits.push({ at, removed: 0, text })
  }

  replace(at: number, removed: number, text: string): void {
    this.#edits.push({ at, removed, text })
  }

  /** Line and column of an offset, both counting from one. */
  position(offset: number): { line: number; column: number } {
    const starts = this.#lineStarts()
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
    const inOrder = this.#edits.map((edit, i) => ({ edit, i })).sort((a, b) => a.edit.at - b.edit.at || a.i - b.i)
    const lines = new Map<number, LineEdit[]>()
    let code = ''
    let done = 0
    for (const { edit } of inOrder) {
      const { line, column } = this.position(edit.at)
      const own = lines.get(line) ?? []
      own.push([column - 1, edit.text.length, edit.text.length - edit.removed])
      lines.set(line, own)
      code += this.#code.slice(done, edit.at) + edit.text
      done = edit.at + edit.removed
    }
    return { code: code + this.#code.slice(done), lines }
  }

  #lineStarts(): number[] {
    if (this.#starts) return this.#starts
    const starts = [0]
    for (const { index, 0: end } of this.#code.matchAll(/\r\n|[\n\r\u2028\u2029]/g)) starts.push(index + end.length)
    this.#starts = starts
    return starts
  }
}

/** Where a column of the changed line stood before; both count from zero. */
export function columnBefore(edits: readonly LineEdit[], column: number): number {
  let growth = 0
  for (const [at, length, more] of edits) {
    const start = at + growth
    if (column < start) break
    if (column < start + length && more > 0) return at
    growth += more
  }
  return column - growth
}

/** Where a column of the line stands now; both count from zero. */
export function columnAfter(edits: readonly LineEdit[], column: number): number {
  let growth = 0
  for (const [at, , more] of edits) {
    if (at > column) break
    growth += more
  }
  return column + growth
}
