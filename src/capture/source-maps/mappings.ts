import { Checkpoints } from './checkpoints.js'
import {
  COLUMN_FIELD,
  GENERATED_COLUMN_FIELD,
  LINE_FIELD,
  NAME_FIELD,
  SegmentReader,
  SOURCE_FIELD,
} from './segment-reader.js'

/** Original position of a segment of generated code. All numbers are 0-based. */
export interface Segment {
  generatedColumn: number
  /** Null if the code has no original source. */
  source: number | null
  line: number
  column: number
  name: number | null
}

/** With unsorted columns, every lookup reads a whole line. In minified code, one line is the whole text. */
const MAX_UNSORTED_LENGTH = 250_000

/** Mappings text, read completely once and then only near the requested position. */
export class Mappings {
  readonly #checkpoints: Checkpoints
  readonly #isSorted: boolean
  readonly #reader: SegmentReader

  private constructor(reader: SegmentReader, checkpoints: Checkpoints, isSorted: boolean) {
    this.#reader = reader
    this.#checkpoints = checkpoints
    this.#isSorted = isSorted
  }

  /** Returns null for invalid mappings, or for mappings so unsorted that every lookup would be slow. */
  static read(text: string, start: { line: number; column: number }): Mappings | null {
    const reader = new SegmentReader(text, start)
    const checkpoints = new Checkpoints(text.length)
    let isSorted = true
    let line = -1
    let column = 0
    while (reader.skip()) {
      if (!checkpoints.read(reader)) return null
      const nextColumn = reader.sums[GENERATED_COLUMN_FIELD] as number
      if (reader.generatedLine === line && nextColumn < column) isSorted = false
      line = reader.generatedLine
      column = nextColumn
    }
    return isSorted || text.length <= MAX_UNSORTED_LENGTH ? new Mappings(reader, checkpoints, isSorted) : null
  }

  /** Approximate memory size. */
  get bytes(): number {
    return this.#reader.text.length + this.#checkpoints.bytes
  }

  /** The last segment of this line that starts at or before the column. */
  find(line: number, column: number): Segment | null {
    const reader = this.#reader
    if (!this.#checkpoints.seekBefore(reader, line, this.#isSorted ? column : null)) return null
    let found: Segment | null = null
    while (reader.skip() && reader.generatedLine <= line && reader.read()) {
      if (reader.generatedLine < line) continue
      const segmentColumn = reader.sums[GENERATED_COLUMN_FIELD] as number
      if (segmentColumn > column && this.#isSorted) break
      if (segmentColumn <= column && segmentColumn >= (found?.generatedColumn ?? segmentColumn))
        found = currentSegment(reader)
    }
    return found
  }
}

function currentSegment({ sums, numberCount }: SegmentReader): Segment {
  const sum = (index: number) => sums[index] as number
  return {
    generatedColumn: sum(GENERATED_COLUMN_FIELD),
    source: numberCount > COLUMN_FIELD ? sum(SOURCE_FIELD) : null,
    line: sum(LINE_FIELD),
    column: sum(COLUMN_FIELD),
    name: numberCount > NAME_FIELD ? sum(NAME_FIELD) : null,
  }
}
