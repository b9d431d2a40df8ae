/** Indexes of a segment's numbers. Each number is a delta to the previous value. */
export const GENERATED_COLUMN_FIELD = 0
export const SOURCE_FIELD = 1
export const LINE_FIELD = 2
export const COLUMN_FIELD = 3
export const NAME_FIELD = 4
const MAX_NUMBERS = 5

const COMMA = 44
const SEMICOLON = 59
const DIGITS = base64Digits()

/** Reads mappings one segment at a time into its own fields. Creating an object per segment would dominate the cost. */
export class SegmentReader {
  readonly text: string
  offset = 0
  generatedLine = 0
  /** Running sums. Malicious maps can exceed 32 bits. */
  readonly sums = new Float64Array(MAX_NUMBERS)
  /** Number of fields in the segment: four include a source, five also a name. */
  numberCount = 0

  constructor(text: string, start: { line: number; column: number }) {
    this.text = text
    this.generatedLine = start.line
    this.sums[GENERATED_COLUMN_FIELD] = start.column
  }

  /** Moves to the next segment. Returns false at the end. */
  skip(): boolean {
    const { text, sums } = this
    for (let offset = this.offset; offset < text.length; offset++) {
      const code = text.charCodeAt(offset)
      if (code === SEMICOLON) {
        this.generatedLine++
        sums[GENERATED_COLUMN_FIELD] = 0
      } else if (code !== COMMA) {
        this.offset = offset
        return true
      }
    }
    this.offset = text.length
    return false
  }

  /** Reads the segment at the current offset; false if it is truncated or contains an invalid 32-bit number. */
  read(): boolean {
    const { text, sums } = this
    let offset = this.offset
    let numberCount = 0
    let value = 0
    let shift = 0
    for (; offset < text.length; offset++) {
      const code = text.charCodeAt(offset)
      if (code === COMMA || code === SEMICOLON) break
      const digit = DIGITS[code] ?? -1
      if (digit < 0 || (shift === 30 && digit > 3)) return false
      value |= (digit & 31) << shift
      shift += 5
      if (digit >= 32) continue
      if (numberCount < MAX_NUMBERS) sums[numberCount] = (sums[numberCount] as number) + decodeSign(value)
      numberCount++
      value = 0
      shift = 0
    }
    this.offset = offset
    this.numberCount = numberCount
    return shift === 0
  }
}

function decodeSign(value: number): number {
  return (value & 1) === 0 ? value >>> 1 : -(value >>> 1)
}

function base64Digits(): Int8Array {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const digits = new Int8Array(128).fill(-1)
  for (let i = 0; i < alphabet.length; i++) digits[alphabet.charCodeAt(i)] = i
  return digits
}
