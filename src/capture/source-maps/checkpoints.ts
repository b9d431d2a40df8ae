import { GENERATED_COLUMN, type SegmentReader } from './segment-reader.js'

/** So many characters apart are the places that a look-up can start from. */
const STRIDE = 512
/** A row: where a reader stands before a segment, the sums it has, and the column that the segment brings it to. */
const AT_OFFSET = 0
const AT_LINE = 1
const AT_SUMS = 2
const AT_COLUMN = 7
const ROW = 8

/** Places in the text of mappings where reading can go on. */
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

  /** Reads the segment that the reader stands before, and now and then notes the place. */
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

  /** Takes a reader to the last place at or before a position, or before a whole line; false where all lie behind it. */
  goBefore(reader: SegmentReader, line: number, column: number | null): boolean {
    const at = this.#rowsBefore(line, column)
    // The first place of all may lie on the very line that is to be read as a whole.
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
