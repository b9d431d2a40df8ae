import type { LineEdit } from './file-change.js'

/** The edits that make `by(…)` of what stands from one place to another. */
export function wrapping(source: string, { from, to, by }: { from: number; to: number; by: string }): LineEdit[] {
  const lines = source.split('\n')
  const first = placeOf(source, from)
  const last = placeOf(source, to)
  const opened = spliced(lines[first.line] ?? '', first.column, `${by}(`)
  if (first.line === last.line) {
    const both = spliced(opened, last.column + by.length + 1, ')')
    return [replaced(first.line, both)]
  }
  return [replaced(first.line, opened), replaced(last.line, spliced(lines[last.line] ?? '', last.column, ')'))]
}

function placeOf(source: string, at: number): { line: number; column: number } {
  const before = source.slice(0, at).split('\n')
  return { line: before.length - 1, column: before.at(-1)?.length ?? 0 }
}

function spliced(text: string, at: number, added: string): string {
  return `${text.slice(0, at)}${added}${text.slice(at)}`
}

function replaced(line: number, text: string): LineEdit {
  return { line, remove: 1, insert: [text.replace(/\r$/, '')] }
}
