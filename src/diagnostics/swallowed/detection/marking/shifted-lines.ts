import type MagicString from 'magic-string'

/** Columns of one character in the marked and in the original line. Both start at zero. */
type ColumnPair = readonly [marked: number, original: number]

/** Start columns of the unmarked parts of a line, by line number. Contains only lines with shifted columns. */
export type ShiftedLines = ReadonlyMap<number, readonly ColumnPair[]>

/** Returns the shifted columns of code whose edits keep all line breaks. */
export function shiftedLines(text: MagicString): ShiftedLines {
  const lines = new Map<number, readonly ColumnPair[]>()
  text.generateDecodedMap().mappings.forEach((segments, index) => {
    const pairs = segments.map(([marked, , , original = 0]): ColumnPair => [marked, original])
    if (pairs.some(([marked, original]) => marked !== original)) lines.set(index + 1, pairs)
  })
  return lines
}

/** Converts a column of the marked line. Columns in a mark convert to the column after the mark. */
export function originalColumn(pairs: readonly ColumnPair[], column: number): number {
  return convert(pairs, column, 0, 1)
}

/** Converts a column of the original line. */
export function markedColumn(pairs: readonly ColumnPair[], column: number): number {
  return convert(pairs, column, 1, 0)
}

function convert(pairs: readonly ColumnPair[], column: number, from: 0 | 1, to: 0 | 1): number {
  let shift = 0
  for (const pair of pairs) {
    if (pair[from] > column) return Math.min(column + shift, pair[to])
    shift = pair[to] - pair[from]
  }
  return column + shift
}
