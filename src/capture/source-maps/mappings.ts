import { Checkpoints } from './checkpoints.js'
import { COLUMN, GENERATED_COLUMN, LINE, NAME, SegmentReader, SOURCE } from './segment-reader.js'

/** The original of a segment of generated code. All numbers are 0-based. */
export interface Segment {
  generated_column: number
  /** Null if the code has no original. */
  source: number | null
  line: number
  column: number
  name: number | null
}

/** With unsorted columns, every lookup reads a whole line, which in minified code is the whole text. */
const UNSORTED_LIMIT = 250_000

/** Mappings text, read completely once and then only near the requested position. */
export class Mappings {
  readonly #checkpoints: Checkpoints
  readonly #is_sorted: boolean
  readonly #reader: SegmentReader

  private constructor(reader: SegmentReader, checkpoints: Checkpoints, is_sorted: boolean) {
    this.#reader = reader
    this.#checkpoints = checkpoints
    this.#is_sorted = is_sorted
  }

  /** Returns null for invalid mappings, or for mappings so unsorted that every lookup would be slow. */
  static read(text: string, start: { line: number; column: number }): Mappings | null {
    const reader = new SegmentReader(text, start)
    const checkpoints = new Checkpoints(text.length)
    let is_sorted = true
    let line = -1
    let column = 0
    while (reader.skip()) {
      if (!checkpoints.read(reader)) return null
      const next = reader.sums[GENERATED_COLUMN] as number
      if (reader.generated_line === line && next < column) is_sorted = false
      line = reader.generated_line
      column = next
    }
    return is_sorted || text.length <= UNSORTED_LIMIT ? new Mappings(reader, checkpoints, is_sorted) : null
  }

  /** Approximate memory size. */
  get bytes(): number {
    return this.#reader.text.length + this.#checkpoints.bytes
  }

  /** The last segment of this line that starts at or before the column. */
  find(line: number, column: number): Segment | null {
    const reader = this.#reader
    if (!this.#checkpoints.goBefore(reader, line, this.#is_sorted ? column : null)) return null
    let found: Segment | null = null
    while (reader.skip() && reader.generated_line <= line && reader.read()) {
      if (reader.generated_line < line) continue
      const at = reader.sums[GENERATED_COLUMN] as number
      if (at > column && this.#is_sorted) break
      if (at <= column && at >= (found?.generated_column ?? at)) found = segmentOf(reader)
    }
    return found
  }
}

function segmentOf({ sums, numbers }: SegmentReader): Segment {
  const sum = (place: number) => sums[place] as number
  return {
    generated_column: sum(GENERATED_COLUMN),
    source: numbers > COLUMN ? sum(SOURCE) : null,
    line: sum(LINE),
    column: sum(COLUMN),
    name: numbers > NAME ? sum(NAME) : null,
  }
}
