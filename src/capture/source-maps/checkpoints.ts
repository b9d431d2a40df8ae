import { GENERATED_COLUMN, type SegmentReader } from './segment-reader.js'

/** Characters between two positions from which a lookup can start. */
const STRIDE = 512
/** Layout of a row: state of a reader before a segment, its sums, and the column of the segment. */
const AT_OFFSET = 0
const AT_LINE = 1
const AT_SUMS = 2
const AT_COLUMN = 7
const ROW = 8

/** Positions in the mappings text where reading can resume. */
export class Checkpoints {
  readonly #table: Float64Array
  #used = 0
  #due = 0

  constructor(text_length: number) {
    this.#table = new Float64Array((Math.floor(text_length / STRIDE) + 1) * ROW)
  }

  get bytes(): number {
    return this.#table.byteLength
  }

  /** Reads the next segment, and records a checkpoint at intervals. */
  read(reader: SegmentReader): boolean {
    if (reader.offset < this.#due) return reader.read()
    const row = this.#table.subarray(this.#used, this.#used + ROW)
    this.#used += ROW
    this.#due = reader.offset + STRIDE
    row[AT_OFFSET] = reader.offset
    row[AT_LINE] = reader.generated_line
    row.set(reader.sums, AT_SUMS)
    const is_read = reader.read()
    row[AT_COLUMN] = reader.sums[GENERATED_COLUMN] as number
    return is_read
  }

  /**
   * Moves a reader to the last checkpoint at or before a position, or before a whole line. Returns false if all are
   * behind it.
   */
  goBefore(reader: SegmentReader, line: number, column: number | null): boolean {
    const at = this.#rowsBefore(line, column)
    // The first checkpoint can be on the line that must be read as a whole.
    if (this.#used === 0 || (at === 0 && column !== null)) return false
    const start = Math.max(0, at - 1) * ROW
    const row = this.#table.subarray(start, start + ROW)
    reader.offset = row[AT_OFFSET] as number
    reader.generated_line = row[AT_LINE] as number
    reader.sums.set(row.subarray(AT_SUMS, AT_COLUMN))
    return true
  }

  #rowsBefore(line: number, column: number | null): number {
    const table = this.#table
    let low = 0
    let high = this.#used / ROW
    while (low < high) {
      const middle = (low + high) >>> 1
      const lines = line - (table[middle * ROW + AT_LINE] as number)
      const is_before =
        lines > 0 || (lines === 0 && column !== null && (table[middle * ROW + AT_COLUMN] as number) <= column)
      if (is_before) low = middle + 1
      else high = middle
    }
    return low
  }
}
