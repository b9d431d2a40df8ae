import { GENERATED_COLUMN_FIELD, type SegmentReader } from './segment-reader.js'

/** Characters between two positions from which a lookup can start. */
const STRIDE = 512
/** Layout of a row: state of a reader before a segment, its sums, and the column of the segment. */
const OFFSET_INDEX = 0
const LINE_INDEX = 1
const SUMS_INDEX = 2
const COLUMN_INDEX = 7
const ROW_LENGTH = 8

/** Positions in the mappings text where reading can resume. */
export class Checkpoints {
  readonly #table: Float64Array
  #used = 0
  #nextOffset = 0

  constructor(textLength: number) {
    this.#table = new Float64Array((Math.floor(textLength / STRIDE) + 1) * ROW_LENGTH)
  }

  get bytes(): number {
    return this.#table.byteLength
  }

  /** Reads the next segment, and records a checkpoint at intervals. */
  read(reader: SegmentReader): boolean {
    if (reader.offset < this.#nextOffset) return reader.read()
    const row = this.#table.subarray(this.#used, this.#used + ROW_LENGTH)
    this.#used += ROW_LENGTH
    this.#nextOffset = reader.offset + STRIDE
    row[OFFSET_INDEX] = reader.offset
    row[LINE_INDEX] = reader.generatedLine
    row.set(reader.sums, SUMS_INDEX)
    const isRead = reader.read()
    row[COLUMN_INDEX] = reader.sums[GENERATED_COLUMN_FIELD] as number
    return isRead
  }

  /**
   * Moves a reader to the last checkpoint at or before a position, or before a whole line. Returns false if all
   * checkpoints are after it.
   */
  seekBefore(reader: SegmentReader, line: number, column: number | null): boolean {
    const rowCount = this.#rowsBefore(line, column)
    // The first checkpoint can be on the line that must be read as a whole.
    if (this.#used === 0 || (rowCount === 0 && column !== null)) return false
    const start = Math.max(0, rowCount - 1) * ROW_LENGTH
    const row = this.#table.subarray(start, start + ROW_LENGTH)
    reader.offset = row[OFFSET_INDEX] as number
    reader.generatedLine = row[LINE_INDEX] as number
    reader.sums.set(row.subarray(SUMS_INDEX, COLUMN_INDEX))
    return true
  }

  #rowsBefore(line: number, column: number | null): number {
    const table = this.#table
    let low = 0
    let high = this.#used / ROW_LENGTH
    while (low < high) {
      const middle = (low + high) >>> 1
      const lines = line - (table[middle * ROW_LENGTH + LINE_INDEX] as number)
      const isBefore =
        lines > 0 || (lines === 0 && column !== null && (table[middle * ROW_LENGTH + COLUMN_INDEX] as number) <= column)
      if (isBefore) low = middle + 1
      else high = middle
    }
    return low
  }
}
